import type { KubeconfigCluster } from '../credentials/kubeconfig.ts';
import type { EksCluster, EksEndpoint, EksService } from '../eks/eks-service.ts';
import { findEksViolations } from './account-cluster.ts';

/** Which cluster a token is for, and where it would be sent. */
export interface TokenBinding {
  readonly cluster: EksCluster;
  /** What the kubeconfig says of the API server that would get it, and whether the account accepts any certificate. */
  readonly receiver: { readonly server: KubeconfigCluster; readonly insecure: boolean };
  readonly openEks: () => Promise<EksService>;
}

/**
 * Refuses to send a token of an EKS cluster to any other API server. A caller that defines an account by an API names both, and could have
 * this process' identity at a cluster sent to a host of their own. The server, its certificate authority and its name must be those that
 * EKS reports for the cluster, as with `eks` of an account.
 *
 * @throws Error that says what is wrong and how to fix it, and quotes no host.
 */
export async function assertReceiver({ cluster, receiver, openEks }: TokenBinding): Promise<void> {
  const { name, region, roleArn, sessionName, externalId } = cluster;
  // A program's session has a name even without a role.
  const ofRole = roleArn === undefined ? {} : { roleArn, sessionName, externalId };
  const violations = findEksViolations({ cluster: name, region, ...ofRole });
  if (violations.length > 0) throw new Error(`its kubeconfig: ${violations.join('; ')}`);
  const eks = await openEks();
  const endpoint = await eks.describeCluster(cluster);
  if (findDifferences(receiver, endpoint).length === 0) return;
  // The kubeconfig may be newer: descriptions of clusters are kept for a day.
  const differences = findDifferences(receiver, await eks.describeCluster(cluster, endpoint));
  if (differences.length === 0) return;
  throw new Error(
    `its kubeconfig wants a token of the EKS cluster "${name}" for another receiver than EKS names (${differences.join(', ')}), which ` +
      'accounts made by an API refuse: name the cluster by eks, or take what aws eks update-kubeconfig writes',
  );
}

/** The members of a kubeconfig that differ from EKS' description. */
function findDifferences(
  { server, insecure }: TokenBinding['receiver'],
  endpoint: EksEndpoint,
): readonly string[] {
  const isSameServer = URL.parse(server.server)?.href === URL.parse(endpoint.server)?.href;
  const isSameAuthority = toPem(server.caData) === toPem(endpoint.certificateAuthorityData);
  return [
    ...(isSameServer ? [] : ['server']),
    ...(isSameAuthority ? [] : ['certificate-authority-data']),
    ...(server.tlsServerName === undefined ? [] : ['tls-server-name']),
    ...(server.skipTLSVerify || insecure ? ['insecure-skip-tls-verify'] : []),
  ];
}

/** The text of certificates, without regard to line breaks. */
function toPem(data: string | undefined): string {
  return Buffer.from(data ?? '', 'base64')
    .toString('utf8')
    .replaceAll(/\s/g, '');
}
