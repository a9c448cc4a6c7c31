import { queues } from '#functions/queues.ts';
import { isIpv6Range, isWiderThanVpc } from './address-ranges.ts';
import type { ApiEndpoint, Authentication, Context } from './context.ts';
import { accountGrantCharactersMax, measureAccountGrants } from './grant-sizes.ts';

/** What options say of one another: the complaint, and when it holds. */
type Rule = readonly [complaint: string, isBroken: (context: Context) => boolean];

/** "Amazon VPC quotas": rules of a security group for what comes in, of each family of addresses, unless the quota was raised. */
const rangesMax = 60;

/** "Quotas for configuring and running a REST API": a resource policy has 8,192 bytes, of which its own words take some. */
const policyCharactersMax = 7_500;

const rules: readonly Rule[] = [
  ['subnetIds: expected subnets of vpcId beside vpcId', (c) => isGiven(c.vpcId) && !isGiven(c.subnetIds)],
  ['vpcId: expected the VPC of subnetIds beside subnetIds', (c) => !isGiven(c.vpcId) && isGiven(c.subnetIds)],
  [
    'vpcEndpointIds: expected the interface endpoints through which the API answers, or vpcId, subnetIds and clientCidrs to ' +
      'make one; the API is private unless publicApi is true',
    (c) => !c.publicApi && listEndpoints(c).length === 0 && !isGiven(c.vpcId),
  ],
  [
    'vpcEndpointId: expected only without vpcEndpointIds, which has taken its place',
    (c) => isGiven(c.vpcEndpointId) && c.vpcEndpointIds.length > 0,
  ],
  [
    'vpcEndpointIds: expected each endpoint once',
    (c) => new Set(c.vpcEndpointIds.map(({ id }) => id)).size < c.vpcEndpointIds.length,
  ],
  [
    'clientCidrs: expected the address ranges that may reach the endpoint that is made in vpcId',
    (c) => makesEndpoint(c) && !isGiven(c.clientCidrs),
  ],
  [
    'clientCidrs: expected only where an endpoint is made in vpcId: neither beside an endpoint of the same AWS account in ' +
      'vpcEndpointIds, whose security group is yours, nor with publicApi',
    (c) => isGiven(c.clientCidrs) && !makesEndpoint(c),
  ],
  ['vpcEndpointIds: expected only without publicApi', (c) => c.publicApi && listEndpoints(c).length > 0],
  [
    'authentication: expected secret, iam or none, for whoever reaches the API can deploy. secret: callers send the text of a secret, ' +
      'which is made for you, as "Authorization: Bearer …". iam: callers sign requests with AWS Signature Version 4. none: whoever ' +
      'has an address in clientCidrs, or reaches your endpoints, may call. Spinnaker needs a proxy for the first two: docs/deploy.md, ' +
      '"Who may call"',
    (c) => !c.publicApi && decideAuthentication(c) === undefined,
  ],
  [
    'publicApi: expected authentication=secret, authentication=iam or truststoreUri (mutual TLS on domainName) beside it: without ' +
      'any of them, anybody could deploy',
    (c) => c.publicApi && (decideAuthentication(c) ?? 'none') === 'none' && !isGiven(c.truststoreUri),
  ],
  [
    'clientCidrs: expected ranges no wider than those of one VPC, /16 of IPv4 and /44 of IPv6, with authentication=none: whoever has ' +
      'one of these addresses can deploy',
    (c) => decideAuthentication(c) === 'none' && c.clientCidrs.some(isWiderThanVpc),
  ],
  [
    `clientCidrs: expected at most ${rangesMax} ranges of IPv4 and ${rangesMax} of IPv6, which is what a security group takes`,
    ({ clientCidrs }) =>
      [true, false].some((is) => clientCidrs.filter((one) => isIpv6Range(one) === is).length > rangesMax),
  ],
  [
    `callerArns, vpcEndpointIds: expected at most ${policyCharactersMax} characters together, which is what the policy of an API ` +
      'holds; name whole accounts in callerArns (arn:aws:iam::123456789012:root), whose own policies then decide',
    (c) => measureDoorPolicy(c) > policyCharactersMax,
  ],
  [
    'authorizerSecretArn: expected only with authentication=secret',
    (c) => isGiven(c.authorizerSecretArn) && decideAuthentication(c) !== 'secret',
  ],
  [
    'callerArns: expected only with authentication=iam',
    (c) => isGiven(c.callerArns) && decideAuthentication(c) !== 'iam',
  ],
  [
    'truststoreUri: expected only with publicApi: API Gateway has no mutual TLS for private APIs',
    (c) => isGiven(c.truststoreUri) && !c.publicApi,
  ],
  [
    'domainName: expected beside truststoreUri: mutual TLS needs a name of your own',
    (c) => isGiven(c.truststoreUri) && !isGiven(c.domainName),
  ],
  [
    'truststoreVersion: expected only with truststoreUri',
    (c) => isGiven(c.truststoreVersion) && !isGiven(c.truststoreUri),
  ],
  [
    'certificateArn: expected the certificate of domainName beside domainName',
    (c) => isGiven(c.domainName) && !isGiven(c.certificateArn),
  ],
  [
    'domainName: expected the name that certificateArn is for beside certificateArn',
    (c) => isGiven(c.certificateArn) && !isGiven(c.domainName),
  ],
  [
    'artifactsSecretArn: expected another secret than configSecretArn: who fetches artifacts must not know how clusters are reached',
    (c) => isGiven(c.artifactsSecretArn) && c.artifactsSecretArn === c.configSecretArn,
  ],
  [
    `accountSecretArns, clusterArns, accountRoleArns: expected no more than ${accountGrantCharactersMax} characters together, which ` +
      'is what the policies of one role hold beside its other grants; name many by how their ARNs begin, in accountSecretArnPrefixes, ' +
      'clusterArnPrefixes and accountRoleArnPrefixes',
    (c) => measureAccountGrants(c) > accountGrantCharactersMax,
  ],
  [
    'agentsDomainName, agentsCertificateArn, agentsTrustStore: expected only with agents',
    (c) => !c.agents && [c.agentsDomainName, c.agentsCertificateArn, c.agentsTrustStore].some(isGiven),
  ],
  [
    'agentsCertificateArn: expected the certificate of agentsDomainName beside agentsDomainName',
    (c) => isGiven(c.agentsDomainName) && !isGiven(c.agentsCertificateArn),
  ],
  [
    'agentsDomainName: expected the name that agentsCertificateArn is for beside agentsCertificateArn',
    (c) => isGiven(c.agentsCertificateArn) && !isGiven(c.agentsDomainName),
  ],
  [
    'agentsDomainName: expected beside agentsTrustStore: mutual TLS needs a name of your own',
    (c) => isGiven(c.agentsTrustStore) && !isGiven(c.agentsDomainName),
  ],
  [
    'agentsDomainName: expected another name than domainName: an API of its own answers agents',
    (c) => isGiven(c.agentsDomainName) && c.agentsDomainName === c.domainName,
  ],
  [
    `concurrency: expected names of queues: ${queues.map(({ name }) => name).join(', ')}`,
    (c) => [...c.concurrency.keys()].some((name) => queues.every((queue) => queue.name !== name)),
  ],
];

/** What options, each of which is well-formed, contradict; empty when they fit together. */
export function findContradictions(context: Context): string[] {
  return rules.filter(([, isBroken]) => isBroken(context)).map(([complaint]) => complaint);
}

/** Whether the interface endpoint of the API is ours to make: there is none of the stacks' own account, and it is wanted. */
export function makesEndpoint(context: Context): boolean {
  const endpoints = listEndpoints(context);
  if (context.publicApi || !isGiven(context.vpcId)) return false;
  return (
    endpoints.every(({ account }) => account !== undefined) &&
    (endpoints.length === 0 || isGiven(context.clientCidrs))
  );
}

/** How many characters callers and endpoints take in the policy of the API, each with its quotes and its comma. */
function measureDoorPolicy(context: Context): number {
  const named = [...context.callerArns, ...listEndpoints(context).map(({ id }) => id)];
  return named.reduce((sum, one) => sum + one.length + 3, 0);
}

/** The endpoints that the operator names. */
export function listEndpoints({ vpcEndpointIds, vpcEndpointId }: Context): readonly ApiEndpoint[] {
  return vpcEndpointId === undefined ? vpcEndpointIds : [{ id: vpcEndpointId, account: undefined }];
}

/**
 * How callers prove who they are at this door: as `authentication` says, else by the secret of `authorizerSecretArn`, else by mutual
 * TLS alone. Undefined where nothing of it is said: no choice fits everybody.
 */
export function decideAuthentication(context: Context): Authentication | undefined {
  if (context.authentication !== undefined) return context.authentication;
  if (isGiven(context.authorizerSecretArn)) return 'secret';
  return context.publicApi && isGiven(context.truststoreUri) ? 'none' : undefined;
}

function isGiven(value: string | readonly string[] | undefined): boolean {
  return value !== undefined && value.length > 0;
}
