import type { ProviderContext } from '#provider-kit/provider.ts';
import { RemoteText } from '#settings/remote-text.ts';
import type { SecretReference } from '#settings/secret-reference.ts';
import { createSecretText } from '#settings/secret-text.ts';
import type { ConnectionOptions } from '../credentials/connection.ts';
import type { CredentialSource } from '../credentials/credentials.ts';
import type { ExecPlugin, KubeconfigCluster } from '../credentials/kubeconfig.ts';
import type { EksCluster, EksEndpoint, EksService } from '../eks/eks-service.ts';
import type { AccountConnection } from './account-connection.ts';
import { parseEksPlugin } from './exec-plugin.ts';
import type { TokenBinding } from './token-receiver.ts';

/**
 * The options that an account gets from AWS: its kubeconfig if that comes from EKS or Secrets Manager, and tokens in place of the programs
 * that make them. Nothing is called before it is needed.
 */
export function createAwsConnectionOptions(
  connection: AccountConnection,
  options: ProviderContext,
): Pick<ConnectionOptions, 'remoteKubeconfig' | 'replaceExecPlugin' | 'serverSecrets'> {
  const { eks, secrets, name: account } = connection;
  const { services, clock, log } = options;
  const findText = (reference: SecretReference | undefined): RemoteText | undefined =>
    reference && createSecretText(reference, { account, secrets: services?.secrets, clock, log });
  if (eks === undefined) {
    return {
      remoteKubeconfig: findText(connection.kubeconfigSecret),
      replaceExecPlugin: (plugin, server) => replacePlugin(plugin, { connection, server }, options),
      serverSecrets: {
        caData: findText(secrets.caData),
        bearerToken: findText(secrets.bearerToken),
      },
    };
  }
  const { AWS_REGION, AWS_DEFAULT_REGION } = options.environment ?? {};
  const named = { ...eks, region: eks.region ?? (AWS_REGION || AWS_DEFAULT_REGION || undefined) };
  const externalId = findText(secrets.externalId);
  const getCluster = async () =>
    externalId === undefined ? named : { ...named, externalId: (await externalId.getCurrent()).trim() };
  const openEks = getOpener(options);
  let known: EksEndpoint | undefined;
  return {
    remoteKubeconfig: new RemoteText({
      ...{ account, clock, log, name: `EKS cluster "${eks.name}"` },
      read: async (isInvalid) => {
        if (isInvalid) externalId?.invalidate();
        const cluster = await getCluster();
        known = await (await openEks()).describeCluster(cluster, isInvalid ? known : undefined);
        return { text: toKubeconfig(cluster, known), asOfMs: known.asOfMs };
      },
    }),
    replaceExecPlugin: () => createTokenSource(named, openEks, getCluster),
  };
}

/** Opens EKS, whose code is loaded late: few functions reach a cluster of it. */
function getOpener({ services: { openAws, openLookups } = {}, clock }: ProviderContext) {
  return async (): Promise<EksService> => {
    if (openAws === undefined) throw new Error('this process was given no way to ask AWS');
    const { createEksService } = await import('../eks/eks-service.ts');
    return createEksService({ openAws, ...(openLookups && { openLookups }), clock });
  };
}

/** Whose token a program would make, and for which API server. */
interface TokenUse {
  readonly connection: AccountConnection;
  readonly server: KubeconfigCluster;
}

/**
 * A source that replaces a program that makes tokens for EKS. On one machine, the program itself runs if only it understands its options.
 * For an account made by an API the source is as confined as the program would be: one of the owner's profiles may name a program, and the
 * token may go only to its own cluster.
 *
 * @throws Error where the program cannot be replaced: deployed functions and accounts made by an API run no programs.
 */
function replacePlugin(
  plugin: ExecPlugin,
  { connection: { isConfined = false, insecure = false }, server }: TokenUse,
  options: ProviderContext,
): CredentialSource | undefined {
  const { services, placement, environment = {} } = options;
  const parsed = parseEksPlugin(plugin, environment);
  if (services?.openAws === undefined || parsed === undefined) return undefined;
  const { cluster, unknown } = parsed;
  const isRefusing = isConfined || placement === 'deployed';
  const refused = isRefusing && cluster.profile !== undefined ? [...unknown, 'a profile'] : unknown;
  if (refused.length === 0) {
    const openEks = getOpener(options);
    const source = createTokenSource(cluster, openEks);
    return isConfined ? bindToReceiver(source, { cluster, receiver: { server, insecure }, openEks }) : source;
  }
  if (!isRefusing) return undefined;
  const who = isConfined ? 'accounts made by an API' : 'deployed functions';
  throw new Error(
    `its kubeconfig runs ${plugin.command} with ${refused.join(', ')}, which ${who} refuse: ` +
      'give the name of the cluster, and if need be a region and a role',
  );
}

/** A source that gives no token for any API server but its cluster's. The check is loaded late: few accounts need it. */
function bindToReceiver(source: CredentialSource, binding: TokenBinding): CredentialSource {
  return async (request) => {
    const { assertReceiver } = await import('./token-receiver.ts');
    await assertReceiver(binding);
    return source(request);
  };
}

function createTokenSource(
  cluster: EksCluster,
  openEks: () => Promise<EksService>,
  getCluster: () => Promise<EksCluster> = async () => cluster,
): CredentialSource {
  const advice = `give ${describeIdentity(cluster)} an access entry in the EKS cluster "${cluster.name}"`;
  return async (request) => {
    const eks = await openEks();
    const { token, expiresAtMs } = await eks.presignToken(await getCluster(), request?.refused);
    return { authorization: `Bearer ${token}`, expiresAtMs, advice };
  };
}

function describeIdentity({ roleArn, profile }: EksCluster): string {
  if (roleArn !== undefined) return `the role ${roleArn}`;
  return `the IAM identity of ${profile === undefined ? 'this process' : `the profile "${profile}"`}`;
}

/** The kubeconfig of a cluster, as `aws eks update-kubeconfig` would write it; JSON is YAML. */
function toKubeconfig({ name }: EksCluster, { server, certificateAuthorityData }: EksEndpoint): string {
  const context = `eks/${name}`;
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'aws',
    args: ['eks', 'get-token', '--cluster-name', name],
  };
  return JSON.stringify({
    clusters: [{ name, cluster: { server, 'certificate-authority-data': certificateAuthorityData } }],
    users: [{ name, user: { exec } }],
    contexts: [{ name: context, context: { cluster: name, user: name } }],
    'current-context': context,
  });
}
