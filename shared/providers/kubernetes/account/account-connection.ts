import { InvalidInputError } from '#core/errors.ts';
import { machineAccessPath } from '#settings/account-storage.ts';
import { isSecretReference, parseSecretReference, type SecretReference } from '#settings/secret-reference.ts';
import type { KubernetesConnection } from '../credentials/connection.ts';
import type { EksCluster } from '../eks/eks-service.ts';
import { findEksViolations, toEksCluster } from './account-cluster.ts';
import type { AccountFields } from './account-fields.ts';
import { findServerViolations, type ServerAddress, toServerAddress } from './account-server.ts';

/** How an account reaches its API server. Holds secrets: never log or show it. */
export interface AccountConnection extends Omit<KubernetesConnection, 'server' | 'placement'> {
  /** Where the kubeconfig is stored if it is a secret; its file and its contents are then undefined. */
  readonly kubeconfigSecret: SecretReference | undefined;
  /** Secrets in further options, by the option. */
  readonly secrets: {
    readonly [option in 'caData' | 'bearerToken' | 'externalId']: SecretReference | undefined;
  };
  /** An EKS cluster, which needs no kubeconfig. */
  readonly eks: EksCluster | undefined;
  /** An API server by its address, which needs no kubeconfig. */
  readonly server: ServerAddress | undefined;
  /** True if this process never reaches its cluster: an agent in the cluster does. */
  readonly isAgents?: boolean;
}

/**
 * The connection of an account that was made by an API: no file of the machine, no program, not the credentials of the pod we run in, and
 * no identity of ours that is sent to an unverified server. The right to call an API does not include the right to run programs as this
 * process. A kubeconfig's contents are checked when it is read.
 *
 * @throws InvalidInputError naming the option
 */
export function confine(connection: AccountConnection, at: string): AccountConnection {
  const { eks, server, serviceAccount, kubeconfigSecret, kubeconfigContents, insecure } = connection;
  if (connection.isAgents) return { ...connection, isConfined: true };
  const refuse = (problem: string): never => {
    throw new InvalidInputError(
      `${at}.${problem}, which accounts made by an API may use only where ${machineAccessPath} is true`,
    );
  };
  if (eks && insecure) refuse('insecure: any certificate for a token of EKS');
  if (serviceAccount) refuse('serviceAccount: the credentials of the pod that Busdriver runs in');
  if (!eks && !server && !kubeconfigSecret && !kubeconfigContents)
    refuse('kubeconfigFile: a file of the machine that Busdriver runs on');
  return { ...connection, kubeconfigFile: undefined, isConfined: true };
}

/**
 * How the account of these fields, found at the path `at`, reaches its API server.
 *
 * @throws InvalidInputError naming the field that refers to a secret in an unknown way.
 */
export function createConnection(fields: AccountFields, at: string): AccountConnection {
  const kubeconfigSecret = findKubeconfigSecret(fields, at);
  return {
    name: fields.name,
    kubeconfigFile: (kubeconfigSecret === undefined && fields.kubeconfigFile) || undefined,
    kubeconfigContents: (kubeconfigSecret === undefined && fields.kubeconfigContents) || undefined,
    kubeconfigSecret,
    secrets: {
      caData: findSecret(fields.server?.caData, `${at}.server.caData`),
      bearerToken: findSecret(fields.server?.bearerToken, `${at}.server.bearerToken`),
      externalId: findSecret(fields.eks?.externalId, `${at}.eks.externalId`),
    },
    context: fields.context || undefined,
    cluster: fields.cluster || undefined,
    user: fields.user || undefined,
    eks: fields.eks && toEksCluster(fields.eks),
    server: fields.server && toServerAddress(fields.server),
    serviceAccount: fields.serviceAccount,
    ...(fields.insecure && { insecure: true }),
    ...(fields.noProxy && { noProxy: true }),
    requestTimeoutSeconds: fields.kubectlRequestTimeoutSeconds || undefined,
    ...(fields.agent && { isAgents: true }),
  };
}

/**
 * Checks that an account of deployed functions, which have no machine's files, says how to reach its API server.
 *
 * @throws InvalidInputError where it names no kubeconfig: it would be `~/.kube/config`.
 */
export function checkReachable(connection: AccountConnection, at: string): void {
  const { eks, server, serviceAccount, kubeconfigSecret, kubeconfigFile, kubeconfigContents } = connection;
  if (connection.isAgents) return;
  if (eks || server || serviceAccount || kubeconfigSecret || kubeconfigFile || kubeconfigContents) return;
  throw new InvalidInputError(
    `${at}.kubeconfigFile: none, and deployed functions have no ~/.kube/config: expected one of ` +
      'kubeconfigSecret, eks, server and kubeconfigContents',
  );
}

/** What is wrong with the fields that say how to reach the API server; each begins with the path of the field. */
export function findConnectionConflicts(fields: AccountFields): readonly string[] {
  const given = [
    ['kubeconfigFile', fields.kubeconfigFile],
    ['kubeconfigContents', fields.kubeconfigContents],
    ['kubeconfigSecret', fields.kubeconfigSecret],
    ['context', fields.context],
    ['cluster', fields.cluster],
    ['user', fields.user],
    ['serviceAccount', fields.serviceAccount],
  ] as const;
  const others = (...but: string[]) => given.filter(([name, value]) => value && !but.includes(name));
  const conflicts = fields.eks ? [...findEksViolations(fields.eks)] : [];
  if (fields.server) conflicts.push(...findServerViolations(fields.server));
  if (fields.server && fields.eks) conflicts.push('eks: expected nothing beside server');
  if (fields.eks || fields.server) {
    const where = fields.eks ? 'eks' : 'server';
    conflicts.push(...others().map(([name]) => `${name}: expected nothing where ${where} names a cluster`));
  } else if (fields.kubeconfigSecret) {
    const rivals = others('kubeconfigSecret', 'context', 'cluster', 'user');
    conflicts.push(...rivals.map(([name]) => `${name}: expected nothing beside kubeconfigSecret`));
  } else if (fields.serviceAccount) {
    const names = ['cluster', 'user'] as const;
    const given = names.filter((name) => fields[name]);
    conflicts.push(
      ...given.map((name) => `${name}: expected nothing beside serviceAccount, whose pod has its own`),
    );
  }
  return conflicts;
}

/** The secret that holds the account's kubeconfig, named by its own field or by Spinnaker's syntax in another. */
function findKubeconfigSecret(fields: AccountFields, at: string): SecretReference | undefined {
  const { kubeconfigSecret, kubeconfigFile, kubeconfigContents } = fields;
  if (kubeconfigSecret) return parseSecretReference(kubeconfigSecret, `${at}.kubeconfigSecret`);
  const [name, text] = kubeconfigFile
    ? ['kubeconfigFile', kubeconfigFile]
    : ['kubeconfigContents', kubeconfigContents ?? ''];
  return findSecret(text, `${at}.${name}`);
}

function findSecret(text: string | undefined, at: string): SecretReference | undefined {
  return text !== undefined && isSecretReference(text) ? parseSecretReference(text, at) : undefined;
}
