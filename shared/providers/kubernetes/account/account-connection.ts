import type { EksCluster } from '../../../core/eks.ts';
import {
  isSecretReference,
  parseSecretReference,
  type SecretReference,
} from '../../../core/settings/secret-reference.ts';
import { findEksViolations, toEksCluster } from './account-cluster.ts';
import type { AccountFields } from './account-fields.ts';

/** How an account reaches its API server. Holds secrets: never log or show it. */
export interface AccountConnection {
  readonly name: string;
  readonly kubeconfigFile: string | undefined;
  /** Used when there is no file. */
  readonly kubeconfigContents: string | undefined;
  /** Where the kubeconfig is when it is a secret; the two above are then not there. */
  readonly kubeconfigSecret: SecretReference | undefined;
  /** Left out, the kubeconfig's current context. */
  readonly context: string | undefined;
  /** An EKS cluster, which needs none of the above. */
  readonly eks: EksCluster | undefined;
  /** True for the credentials of the pod we run in; a kubeconfig is then ignored. */
  readonly serviceAccount: boolean;
  /** Bound of one request. */
  readonly requestTimeoutSeconds: number | undefined;
}

/**
 * How the account of these fields, which stand at the path `at`, reaches its API server.
 *
 * @throws InvalidInputError naming the field that refers to a secret in no known way.
 */
export function createConnection(fields: AccountFields, at: string): AccountConnection {
  const kubeconfigSecret = findKubeconfigSecret(fields, at);
  return {
    name: fields.name,
    kubeconfigFile: (kubeconfigSecret === undefined && fields.kubeconfigFile) || undefined,
    kubeconfigContents: (kubeconfigSecret === undefined && fields.kubeconfigContents) || undefined,
    kubeconfigSecret,
    context: fields.context || undefined,
    eks: fields.eks && toEksCluster(fields.eks),
    serviceAccount: fields.serviceAccount,
    requestTimeoutSeconds: fields.kubectlRequestTimeoutSeconds || undefined,
  };
}

/** What is wrong with the fields that say how to reach the API server; each begins with the path of the field. */
export function findConnectionConflicts(fields: AccountFields): readonly string[] {
  const given = [
    ['kubeconfigFile', fields.kubeconfigFile],
    ['kubeconfigContents', fields.kubeconfigContents],
    ['kubeconfigSecret', fields.kubeconfigSecret],
    ['context', fields.context],
    ['serviceAccount', fields.serviceAccount],
  ] as const;
  const others = (...but: string[]) => given.filter(([name, value]) => value && !but.includes(name));
  const conflicts = fields.eks ? [...findEksViolations(fields.eks)] : [];
  if (fields.eks) {
    conflicts.push(...others().map(([name]) => `${name}: expected nothing where eks names a cluster`));
  } else if (fields.kubeconfigSecret) {
    const rivals = others('kubeconfigSecret', 'context');
    conflicts.push(...rivals.map(([name]) => `${name}: expected nothing beside kubeconfigSecret`));
  }
  return conflicts;
}

/** The secret that is the account's kubeconfig, by the field for it or by Spinnaker's syntax in another one. */
function findKubeconfigSecret(fields: AccountFields, at: string): SecretReference | undefined {
  const { kubeconfigSecret, kubeconfigFile, kubeconfigContents } = fields;
  if (kubeconfigSecret) return parseSecretReference(kubeconfigSecret, `${at}.kubeconfigSecret`);
  const [name, text] = kubeconfigFile
    ? ['kubeconfigFile', kubeconfigFile]
    : ['kubeconfigContents', kubeconfigContents ?? ''];
  return isSecretReference(text) ? parseSecretReference(text, `${at}.${name}`) : undefined;
}
