import { dirname, join, resolve } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asString } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { RemoteText } from '#settings/remote-text.ts';
import { KubernetesConnectionError } from '../api/errors.ts';
import { type ApiServer, decodeAuthorities, parseServerUrl } from './api-server.ts';
import type { CredentialSource } from './credentials.ts';
import { findEnvironmentProxy } from './environment-proxy.ts';
import type { ExecPlugin, KubeconfigCluster, KubeconfigContext, KubeconfigUser } from './kubeconfig.ts';
import { defaultKubeconfigFile, toKubeconfigPath } from './kubeconfig-file.ts';
import { readKubeconfigContext } from './kubeconfig-reading.ts';
import { type LoadedUser, selectCredentialSource } from './user-credential.ts';
import { WatchedFiles } from './watched-files.ts';

/** How an account reaches its API server, by Clouddriver's account settings. */
export interface KubernetesConnection {
  /** The account's name, for errors. */
  readonly name: string;
  /** A `~` at its beginning is the home directory. Default, without contents: `~/.kube/config`, as in Clouddriver. */
  readonly kubeconfigFile?: string | undefined;
  /** Used when there is no file. */
  readonly kubeconfigContents?: string | undefined;
  /** Left out, the kubeconfig's current context. */
  readonly context?: string | undefined;
  /** A cluster of the kubeconfig that replaces the context's. */
  readonly cluster?: string | undefined;
  /** A user of the kubeconfig that replaces the context's. */
  readonly user?: string | undefined;
  /** An API server by its address, in place of a kubeconfig. */
  readonly server?: ApiServer | undefined;
  /** True for the credentials of the pod we run in; the fields above are then ignored. */
  readonly serviceAccount: boolean;
  /** True if the API server's certificate is not checked, whatever the kubeconfig says. Default: false. */
  readonly insecure?: boolean | undefined;
  /** True if the environment's proxies are bypassed; the kubeconfig's still applies. Default: false. */
  readonly noProxy?: boolean | undefined;
  /** Time limit of one request, default 30 s. */
  readonly requestTimeoutSeconds?: number | undefined;
  /** `deployed` refuses what belongs to one machine: kubeconfig files, file paths, exec plugins, auth providers. */
  readonly placement: 'local' | 'deployed';
  /** True refuses the same on one machine: the account was made by an API. */
  readonly isConfined?: boolean | undefined;
}

/** The options of a connection besides the account's own settings. */
export interface ConnectionOptions {
  /** Where the error output of exec plugins goes. */
  readonly log: Logger;
  /** Decides when tokens expire. */
  readonly clock: Clock;
  /** The process environment: exec plugins inherit it, and a pod finds its API server in it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder of a pod's credentials; default: Kubernetes' own. */
  readonly serviceAccountDirectory?: string | undefined;
  /** The account's kubeconfig from a remote source, in place of the settings' own. */
  readonly remoteKubeconfig?: RemoteText | undefined;
  /** The source of credentials for `KubernetesConnection.server`. */
  readonly serverCredential?: CredentialSource | undefined;
  /** Secrets that replace members of `KubernetesConnection.server`, and its credentials. */
  readonly serverSecrets?:
    | {
        /** PEM, or its base64. */
        readonly caData: RemoteText | undefined;
        /** A token in place of `serverCredential`. */
        readonly bearerToken: RemoteText | undefined;
      }
    | undefined;
  /**
   * Returns our own credential source for an exec plugin, which then is not run and is allowed everywhere: `aws eks get-token` needs no
   * process, only a presigned request. Undefined runs the plugin.
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

/** An API server and how to call it, from one reading of an account's settings and files. */
export interface ClusterConnection {
  /** `account "x" (context "y")`, for errors. */
  readonly label: string;
  /** `https://host:port` */
  readonly origin: string;
  /** What precedes `/api` in paths: empty, or a gateway's prefix without a trailing slash. */
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
 * Reads an account's kubeconfig, or its pod's credentials, and the files they name; or uses the server that it names.
 *
 * @throws KubernetesConnectionError naming the account and what to do.
 */
export async function loadClusterConnection(
  account: KubernetesConnection,
  options: ConnectionOptions,
): Promise<ClusterConnection> {
  try {
    if (account.serviceAccount) return await loadPodConnection(account, options);
    const { server } = account;
    if (server !== undefined) return await loadServerConnection({ ...account, server }, options);
    return await loadKubeconfigConnection(account, options);
  } catch (error) {
    throw new KubernetesConnectionError(`account "${account.name}": ${getErrorMessage(error)}`, {
      cause: error,
      lacksCredentials: isBetweenFiles(error),
    });
  }
}

/** A token file without a token. */
class EmptyTokenError extends Error {}

/** Whether a file of an account is missing or empty: it may be, for a moment, while it is replaced. */
function isBetweenFiles(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isGone = 'code' in error && error.code === 'ENOENT';
  return isGone || error instanceof EmptyTokenError || isBetweenFiles(error.cause);
}

async function loadPodConnection(
  account: KubernetesConnection,
  options: ConnectionOptions,
): Promise<ClusterConnection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = options.environment;
  if (!host) {
    throw new Error(
      'serviceAccount needs a pod to run in, but KUBERNETES_SERVICE_HOST is not set: give a kubeconfig',
    );
  }
  const files = new WatchedFiles();
  const directory = options.serviceAccountDirectory ?? podDirectory;
  const token = await readToken(join(directory, 'token'), files);
  const ca = await files.read(join(directory, 'ca.crt'));
  const namespace = await files.read(join(directory, 'namespace')).catch(() => '');
  return {
    label: `account "${account.name}" (in-cluster)`,
    origin: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    basePath: '',
    tls: { ca, rejectUnauthorized: account.insecure !== true, servername: undefined },
    proxyUrl: undefined,
    namespace: namespace.trim() || 'default',
    headers: {},
    credentialSource: async () => ({ authorization: `Bearer ${token}` }),
    files,
  };
}

/** The connection to an API server that the account names by its address. */
async function loadServerConnection(
  { name, server, insecure, noProxy }: KubernetesConnection & { readonly server: ApiServer },
  { serverCredential, serverSecrets, environment }: ConnectionOptions,
): Promise<ClusterConnection> {
  const url = parseServerUrl(server.host);
  if (url === undefined) {
    throw new Error('server.host: expected an http or https URL without user, query and fragment');
  }
  const files = new WatchedFiles();
  const read = async (secret: RemoteText | undefined) => secret && (await files.readRemote(secret)).trim();
  const caData = (await read(serverSecrets?.caData)) ?? server.caData;
  const token = await read(serverSecrets?.bearerToken);
  const source = token === undefined ? serverCredential : async () => ({ authorization: `Bearer ${token}` });
  if (source === undefined) throw new Error('nothing gives credentials for its server');
  return {
    label: `account "${name}" (server)`,
    origin: url.origin,
    basePath: url.pathname.replace(/\/+$/, ''),
    tls: { ca: decodeAuthorities(caData), rejectUnauthorized: insecure !== true, servername: undefined },
    proxyUrl: noProxy ? undefined : findEnvironmentProxy(url, environment),
    namespace: 'default',
    headers: {},
    credentialSource: source,
    files,
  };
}

async function loadKubeconfigConnection(
  account: KubernetesConnection,
  options: ConnectionOptions,
): Promise<ClusterConnection> {
  const files = new WatchedFiles();
  const file = findKubeconfigFile(account, options);
  const context = await loadContext(account, { remote: options.remoteKubeconfig, file, files });
  const { cluster } = context;
  const ownSource = context.user.exec && options.replaceExecPlugin?.(context.user.exec, cluster);
  const isRefusing = account.placement === 'deployed' || account.isConfined;
  if (isRefusing) refuseMachineFields(context, account, ownSource !== undefined);
  const base = file === undefined ? '.' : dirname(file);
  const readPem: UserFiles['readPem'] = async (data, path) => {
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
    return path === undefined ? undefined : files.read(resolve(base, path));
  };
  const ca = await readPem(cluster.caData, cluster.caFile);
  const user = await loadUserFiles(context.user, { readPem, base, files });
  const server = parseServer(cluster.server);
  return {
    label: `account "${account.name}" (context "${context.name}")`,
    origin: server.origin,
    basePath: server.pathname.replace(/\/+$/, ''),
    tls: {
      ca,
      rejectUnauthorized: !(cluster.skipTLSVerify || account.insecure),
      servername: cluster.tlsServerName,
    },
    proxyUrl:
      cluster.proxyUrl ?? (account.noProxy ? undefined : findEnvironmentProxy(server, options.environment)),
    namespace: context.namespace || 'default',
    headers: user.impersonation,
    credentialSource: selectCredentialSource(user, {
      ownSource,
      environment: options.environment,
      pluginDirectory: resolve(base),
      cluster: { ...cluster, caData: ca && Buffer.from(ca).toString('base64') },
      account: account.name,
      log: options.log,
      clock: options.clock,
    }),
    files,
  };
}

/**
 * The path of the account's kubeconfig; undefined if it is not a file.
 *
 * @throws Error where functions are deployed, which have no machine's files.
 */
function findKubeconfigFile(
  { kubeconfigFile, kubeconfigContents, placement }: KubernetesConnection,
  { environment, remoteKubeconfig }: ConnectionOptions,
): string | undefined {
  if (remoteKubeconfig !== undefined || (!kubeconfigFile && kubeconfigContents)) return undefined;
  if (placement === 'local') return toKubeconfigPath(kubeconfigFile, environment);
  throw new Error(
    kubeconfigFile
      ? `kubeconfigFile (${kubeconfigFile}) is a file of one machine: deployed functions need kubeconfigContents`
      : 'it has no credentials: set kubeconfigSecret, eks or kubeconfigContents, for deployed functions have no ' +
          `${defaultKubeconfigFile}`,
  );
}

/** Where a kubeconfig is; neither remote nor a file: in the account itself. */
interface KubeconfigPlace {
  readonly remote: RemoteText | undefined;
  readonly file: string | undefined;
  readonly files: WatchedFiles;
}

async function loadContext(
  account: KubernetesConnection,
  { remote, file, files }: KubeconfigPlace,
): Promise<KubeconfigContext> {
  const given = remote === undefined ? account.kubeconfigContents : await files.readRemote(remote);
  try {
    const text = file === undefined ? (given ?? '') : await files.read(file);
    return await readKubeconfigContext(text, account);
  } catch (error) {
    const where = remote?.name ?? (file === undefined ? 'kubeconfigContents' : `kubeconfigFile ${file}`);
    throw new Error(`${where}: ${getErrorMessage(error)}`, { cause: error });
  }
}

/** Deployed functions and accounts made by an API run no programs of a kubeconfig and have none of its files. */
function refuseMachineFields(
  { cluster, user }: KubeconfigContext,
  { isConfined }: Pick<KubernetesConnection, 'isConfined'>,
  execReplaced: boolean,
): void {
  const refused = [
    cluster.caFile && !cluster.caData && 'certificate-authority',
    user.certFile && !user.certData && 'client-certificate',
    user.keyFile && !user.keyData && 'client-key',
    user.tokenFile && 'tokenFile',
    user.exec && !execReplaced && `exec (${user.exec.command})`,
    user.authProvider && 'auth-provider',
  ].filter((field) => typeof field === 'string' && field !== '');
  if (refused.length === 0) return;
  const who = isConfined ? 'accounts made by an API' : 'deployed functions';
  throw new Error(
    `its kubeconfig has ${refused.join(', ')}, which ${who} refuse: inline the data, or use a token or EKS`,
  );
}

/** The user with the contents of its files in place of their paths. */
async function loadUserFiles(user: KubeconfigUser, { readPem, base, files }: UserFiles): Promise<LoadedUser> {
  // As in kubectl, a token file wins over a token: the file is the one that is renewed.
  const token = user.tokenFile ? await readToken(resolve(base, user.tokenFile), files) : user.token;
  const certificate = await readPem(user.certData, user.certFile);
  const key = await readPem(user.keyData, user.keyFile);
  const { config = {} } = user.authProvider ?? {};
  const identityProviderCa = await readPem(
    asString(config['idp-certificate-authority-data']),
    asString(config['idp-certificate-authority']),
  );
  return { ...user, token, certificate, key, identityProviderCa };
}

/** A token from its file. @throws EmptyTokenError where there is none: without it the API server would take us for somebody unknown */
async function readToken(path: string, files: WatchedFiles): Promise<string> {
  const token = (await files.read(path)).trim();
  if (token === '') throw new EmptyTokenError(`the token file ${path} is empty`);
  return token;
}

interface UserFiles {
  readonly readPem: (data: string | undefined, path: string | undefined) => Promise<string | undefined>;
  readonly base: string;
  readonly files: WatchedFiles;
}

function parseServer(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new Error("the cluster's server is no http or https URL");
  }
  return url;
}
