import { dirname, join, resolve } from 'node:path';
import { getErrorMessage } from '../../../core/errors.ts';
import type { Logger } from '../../../core/logger.ts';
import { KubernetesConnectionError } from '../api/errors.ts';
import type { CredentialSource } from './credentials.ts';
import { findEnvironmentProxy } from './environment-proxy.ts';
import {
  type ExecPlugin,
  type KubeconfigCluster,
  type KubeconfigContext,
  type KubeconfigUser,
  parseKubeconfigContext,
} from './kubeconfig.ts';
import type { RemoteText } from './remote-text.ts';
import { selectCredentialSource } from './user-credential.ts';
import { WatchedFiles } from './watched-files.ts';

/** How an account reaches its API server, from Clouddriver's account settings. */
export interface KubernetesConnection {
  /** The account's name, for errors. */
  readonly name: string;
  readonly kubeconfigFile?: string | undefined;
  /** Used when there is no file. */
  readonly kubeconfigContents?: string | undefined;
  /** Left out, the kubeconfig's current context. */
  readonly context?: string | undefined;
  /** True for the credentials of the pod we run in; the fields above and `token` are then ignored. */
  readonly serviceAccount: boolean;
  /** A bearer token that replaces the kubeconfig user's own. */
  readonly token?: string | undefined;
  /** Bound of one request, default 30 s. */
  readonly requestTimeoutSeconds?: number | undefined;
  /** `deployed` refuses what belongs to one machine: kubeconfig files, file paths, exec plugins, auth providers. */
  readonly placement: 'local' | 'deployed';
}

/** What a connection is made with besides the account's own settings. */
export interface ConnectionSurroundings {
  /** Where the error output of exec plugins goes. */
  readonly log: Logger;
  /** The process environment: exec plugins inherit it, and a pod finds its API server in it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where a pod's credentials lie; default Kubernetes' own place. */
  readonly serviceAccountDirectory?: string | undefined;
  /** The account's kubeconfig where it comes from afar, in the place of the settings' own. */
  readonly remoteKubeconfig?: RemoteText | undefined;
  /**
   * Offers a credential source of our own for an exec plugin, which then is not run and is allowed everywhere:
   * `aws eks get-token` needs no process, only a presigned request. Undefined leaves the plugin as it is.
   */
  readonly replaceExecPlugin?:
    | ((plugin: ExecPlugin, cluster: KubeconfigCluster) => CredentialSource | undefined)
    | undefined;
}

/** How a TLS connection is made; PEM texts. */
export interface TlsSettings {
  readonly ca: string | undefined;
  /** False for `insecure-skip-tls-verify`. */
  readonly rejectUnauthorized: boolean;
  readonly servername: string | undefined;
}

/** An API server and how to talk to it, as one reading of an account's settings and files told. */
export interface ClusterConnection {
  /** `account "x" (context "y")`, for errors. */
  readonly label: string;
  /** `https://host:port` */
  readonly origin: string;
  /** What stands before `/api` in paths: empty, or a gateway's prefix without a slash at its end. */
  readonly basePath: string;
  readonly tls: TlsSettings;
  readonly proxyUrl: string | undefined;
  /** Where objects without a namespace go. */
  readonly namespace: string;
  /** Headers of every request: impersonation. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly credentialSource: CredentialSource;
  readonly files: WatchedFiles;
}

const podDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Reads an account's kubeconfig, or its pod's credentials, and the files they name.
 *
 * @throws KubernetesConnectionError naming the account and what to do.
 */
export async function loadClusterConnection(
  account: KubernetesConnection,
  surroundings: ConnectionSurroundings,
): Promise<ClusterConnection> {
  try {
    return account.serviceAccount
      ? await loadPodConnection(account, surroundings)
      : await loadKubeconfigConnection(account, surroundings);
  } catch (error) {
    throw new KubernetesConnectionError(`account "${account.name}": ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
}

async function loadPodConnection(
  account: KubernetesConnection,
  surroundings: ConnectionSurroundings,
): Promise<ClusterConnection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = surroundings.environment;
  if (!host) {
    throw new Error(
      'serviceAccount needs a pod to run in, but KUBERNETES_SERVICE_HOST is not set: give a kubeconfig',
    );
  }
  const files = new WatchedFiles();
  const directory = surroundings.serviceAccountDirectory ?? podDirectory;
  const token = (await files.read(join(directory, 'token'))).trim();
  const ca = await files.read(join(directory, 'ca.crt'));
  const namespace = await files.read(join(directory, 'namespace')).catch(() => '');
  return {
    label: `account "${account.name}" (in-cluster)`,
    origin: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    basePath: '',
    tls: { ca, rejectUnauthorized: true, servername: undefined },
    proxyUrl: undefined,
    namespace: namespace.trim() || 'default',
    headers: {},
    credentialSource: async () => ({ authorization: `Bearer ${token}` }),
    files,
  };
}

async function loadKubeconfigConnection(
  account: KubernetesConnection,
  surroundings: ConnectionSurroundings,
): Promise<ClusterConnection> {
  const files = new WatchedFiles();
  const context = surroundings.remoteKubeconfig
    ? await loadRemoteContext(surroundings.remoteKubeconfig, { account, files })
    : await loadContext(account, files);
  const { cluster } = context;
  const ownSource = context.user.exec && surroundings.replaceExecPlugin?.(context.user.exec, cluster);
  if (account.placement === 'deployed') refuseMachineFields(context, ownSource !== undefined);
  const base = account.kubeconfigFile ? dirname(account.kubeconfigFile) : '.';
  const readPem = (data: string | undefined, path: string | undefined) =>
    loadPem({ data, path, base, files });
  const ca = await readPem(cluster.certificateAuthorityData, cluster.certificateAuthority);
  const user = await loadUserFiles(context.user, { readPem, base, files });
  const server = parseServer(cluster.server);
  return {
    label: `account "${account.name}" (context "${context.name}")`,
    origin: server.origin,
    basePath: server.pathname.replace(/\/+$/, ''),
    tls: { ca, rejectUnauthorized: !cluster.insecureSkipTlsVerify, servername: cluster.tlsServerName },
    proxyUrl: cluster.proxyUrl ?? findEnvironmentProxy(server, surroundings.environment),
    namespace: context.namespace || 'default',
    headers: user.impersonation,
    credentialSource: selectCredentialSource(user, {
      token: account.token,
      ownSource,
      environment: surroundings.environment,
      pluginDirectory: resolve(base),
      cluster: { ...cluster, certificateAuthorityData: ca && Buffer.from(ca).toString('base64') },
      account: account.name,
      log: surroundings.log,
    }),
    files,
  };
}

async function loadContext(account: KubernetesConnection, files: WatchedFiles): Promise<KubeconfigContext> {
  const { kubeconfigFile: file, kubeconfigContents: contents, placement } = account;
  if (!file && !contents) {
    throw new Error('it has no credentials: set kubeconfigFile, kubeconfigContents or serviceAccount');
  }
  if (file && placement === 'deployed') {
    throw new Error(
      `kubeconfigFile (${file}) is a file of one machine: deployed functions need kubeconfigContents`,
    );
  }
  try {
    return parseKubeconfigContext(file ? await files.read(file) : (contents ?? ''), account.context);
  } catch (error) {
    const where = file ? `kubeconfigFile ${file}` : 'kubeconfigContents';
    throw new Error(`${where}: ${getErrorMessage(error)}`, { cause: error });
  }
}

async function loadRemoteContext(
  remote: RemoteText,
  { account, files }: { account: KubernetesConnection; files: WatchedFiles },
): Promise<KubeconfigContext> {
  const text = await files.readRemote(remote);
  try {
    return parseKubeconfigContext(text, account.context);
  } catch (error) {
    throw new Error(`${remote.name}: ${getErrorMessage(error)}`, { cause: error });
  }
}

/** Deployed functions run no programs of a kubeconfig and have none of its files. */
function refuseMachineFields({ cluster, user }: KubeconfigContext, execReplaced: boolean): void {
  const refused = [
    cluster.certificateAuthority && !cluster.certificateAuthorityData && 'certificate-authority',
    user.clientCertificate && !user.clientCertificateData && 'client-certificate',
    user.clientKey && !user.clientKeyData && 'client-key',
    user.tokenFile && 'tokenFile',
    user.exec && !execReplaced && `exec (${user.exec.command})`,
    user.authProvider && 'auth-provider',
  ].filter((field) => typeof field === 'string' && field !== '');
  if (refused.length === 0) return;
  throw new Error(
    `its kubeconfig has ${refused.join(', ')}, which deployed functions refuse: inline the data, or use a token or EKS`,
  );
}

/** The user with what its files hold in the place of their paths. */
async function loadUserFiles(
  user: KubeconfigUser,
  { readPem, base, files }: UserFiles,
): Promise<KubeconfigUser & { certificate: string | undefined; key: string | undefined }> {
  // As for kubectl, a token file wins over a token: it is the one that is renewed.
  const token = user.tokenFile ? (await files.read(resolve(base, user.tokenFile))).trim() : user.token;
  const certificate = await readPem(user.clientCertificateData, user.clientCertificate);
  const key = await readPem(user.clientKeyData, user.clientKey);
  return { ...user, token, certificate, key };
}

interface UserFiles {
  readonly readPem: (data: string | undefined, path: string | undefined) => Promise<string | undefined>;
  readonly base: string;
  readonly files: WatchedFiles;
}

interface PemSource {
  readonly data: string | undefined;
  readonly path: string | undefined;
  readonly base: string;
  readonly files: WatchedFiles;
}

async function loadPem({ data, path, base, files }: PemSource): Promise<string | undefined> {
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  return path === undefined ? undefined : await files.read(resolve(base, path));
}

function parseServer(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new Error("the cluster's server is no http or https URL");
  }
  return url;
}
