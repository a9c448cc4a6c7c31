import { queues } from '../functions/queues.ts';
import type { Context } from './context.ts';
import { accountGrantCharactersMax, measureAccountGrants } from './grant-sizes.ts';

/** What options say of one another: the complaint, and when it holds. */
type Rule = readonly [complaint: string, isBroken: (context: Context) => boolean];

const rules: readonly Rule[] = [
  ['subnetIds: expected subnets of vpcId beside vpcId', (c) => isGiven(c.vpcId) && !isGiven(c.subnetIds)],
  ['vpcId: expected the VPC of subnetIds beside subnetIds', (c) => !isGiven(c.vpcId) && isGiven(c.subnetIds)],
  [
    'vpcEndpointId: expected the interface endpoint through which the API answers, or vpcId, subnetIds and clientCidrs to ' +
      'make one; the API is private unless publicApi is true',
    (c) => !c.publicApi && !isGiven(c.vpcEndpointId) && !isGiven(c.vpcId),
  ],
  [
    'clientCidrs: expected the address ranges that may reach the endpoint that is made in vpcId',
    (c) => makesEndpoint(c) && !isGiven(c.clientCidrs),
  ],
  [
    'clientCidrs: expected only where an endpoint is made: neither with vpcEndpointId, whose security group is yours, nor with ' +
      'publicApi',
    (c) => isGiven(c.clientCidrs) && (isGiven(c.vpcEndpointId) || c.publicApi),
  ],
  ['vpcEndpointId: expected only without publicApi', (c) => c.publicApi && isGiven(c.vpcEndpointId)],
  [
    'publicApi: expected truststoreUri (mutual TLS on domainName) or authorizerSecretArn (a shared secret) beside it: without ' +
      'either, anybody could deploy',
    (c) => c.publicApi && !isGiven(c.truststoreUri) && !isGiven(c.authorizerSecretArn),
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
    `clientCidrs: expected ranges of your own networks, not the whole internet, unless authorizerSecretArn tells callers apart`,
    (c) => !isGiven(c.authorizerSecretArn) && c.clientCidrs.some((cidr) => isWholeInternet(cidr)),
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

/** Whether the interface endpoint of the API is ours to make. */
export function makesEndpoint(context: Context): boolean {
  return !context.publicApi && !isGiven(context.vpcEndpointId) && isGiven(context.vpcId);
}

/** A range of half of all addresses is as good as all of them: two of these make one `/0`. */
function isWholeInternet(cidr: string): boolean {
  return Number(cidr.split('/')[1]) <= 1;
}

function isGiven(value: string | readonly string[] | undefined): boolean {
  return value !== undefined && value.length > 0;
}
