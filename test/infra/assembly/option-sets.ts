import type { Options } from '../stacks/synthesize.ts';

/** A choice of options, and the one from which it differs in one option. */
export interface OptionSet {
  readonly name: string;
  readonly options: Options;
  /** Name of the set that an operator may come from; undefined for those to begin with. */
  readonly from?: string;
}

const arn = (service: string, resource: string, region = 'us-east-1') =>
  `arn:aws:${service}:${region}:123456789012:${resource}`;
const secret = (name: string) => arn('secretsmanager', `secret:${name}-AbCdEf`);

const vpc = {
  vpcId: 'vpc-0123456789abcdef0',
  subnetIds: 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
};
const domain = { domainName: 'clouddriver.example.com', certificateArn: arn('acm', 'certificate/0123') };
const endpoint = { vpcEndpointIds: 'vpce-0123456789abcdef0', authentication: 'secret' };
const sharedSecret = { authorizerSecretArn: secret('caller') };
const agentsDomain = {
  agentsDomainName: 'agents.example.com',
  agentsCertificateArn: arn('acm', 'certificate/4567'),
};
const foreign = '210987654321/vpce-0123456789abcdef2';

/** Where operators begin. */
const beginnings: { readonly [name: string]: Options } = {
  'private, endpoint of the operator': { ...vpc, ...endpoint },
  'the longest names': {
    ...vpc,
    ...endpoint,
    ...domain,
    namePrefix: 'p'.repeat(16),
    stage: 's'.repeat(12),
  },
  'private, endpoint under its former name': {
    ...vpc,
    ...domain,
    vpcEndpointId: 'vpce-0123456789abcdef0',
    ...sharedSecret,
  },
  'private, endpoint of another account': {
    ...vpc,
    ...domain,
    vpcEndpointIds: foreign,
    authentication: 'secret',
  },
  'private, endpoint made': { ...vpc, clientCidrs: '10.20.0.0/16', authentication: 'secret' },
  'private, with a name': { ...vpc, ...endpoint, ...domain },
  'private, outside a VPC': endpoint,
  'private, with agents': { ...endpoint, ...domain, agents: true },
  'public, shared secret': { publicApi: true, ...domain, ...sharedSecret },
  'public, mutual TLS, in a VPC': {
    publicApi: true,
    ...vpc,
    ...domain,
    truststoreUri: 's3://trust/store.pem',
  },
};

/** What operators change later, by where they begin: one option each, beside those that it needs or rules out. */
const changes: { readonly [name: string]: { readonly [change: string]: Options } } = {
  'private, endpoint of the operator': {
    'another endpoint': { vpcEndpointIds: 'vpce-0123456789abcdef1' },
    'a second endpoint': { vpcEndpointIds: 'vpce-0123456789abcdef0,vpce-0123456789abcdef1' },
    'an endpoint of another account beside it': { vpcEndpointIds: `vpce-0123456789abcdef0,${foreign}` },
    'the same endpoint by its former name': {
      vpcEndpointIds: undefined,
      vpcEndpointId: 'vpce-0123456789abcdef0',
    },
    'an endpoint made instead': { vpcEndpointIds: undefined, clientCidrs: '10.20.0.0/16' },
    'nobody proves who he is': { authentication: 'none' },
    'callers known by IAM': { authentication: 'iam' },
    'some callers known by IAM': {
      authentication: 'iam',
      callerArns: 'arn:aws:iam::123456789012:role/spinnaker,arn:aws:iam::210987654321:root',
    },
    'another VPC': { vpcId: 'vpc-0123456789abcdef1' },
    'other subnets': { subnetIds: 'subnet-0123456789abcdef2,subnet-0123456789abcdef3' },
    'no VPC': { vpcId: undefined, subnetIds: undefined },
    'a name': domain,
    'a hundred callers known by IAM, sixty ranges': {
      vpcEndpointIds: undefined,
      clientCidrs: Array.from({ length: 60 }, (_, index) => `10.20.${index}.0/24`).join(','),
      authentication: 'iam',
      callerArns: Array.from(
        { length: 120 },
        (_, index) => `arn:aws:iam::123456789012:role/spinnaker-caller-${index}`,
      ).join(','),
    },
    'public instead': { vpcEndpointIds: undefined, publicApi: true },
    'a secret of the operator': sharedSecret,
    'settings in a secret of the operator': { configSecretArn: secret('settings') },
    'artifact accounts in a secret of the operator': { artifactsSecretArn: secret('artifacts') },
    'an artifact store': { artifactStoreBucket: 'stored-artifacts' },
    'a key of the operator': { encryptionKeyArn: arn('kms', 'key/01234567-89ab-cdef-0123-456789abcdef') },
    'a boundary': { permissionsBoundaryArn: 'arn:aws:iam::123456789012:policy/boundary' },
    'alarms to a topic': { alarmTopicArn: arn('sns', 'alarms') },
    'more at once': { concurrency: 'operations=40,agents=200' },
    'agents less often': { agentIntervalSeconds: 120 },
    'no archive': { archiveDays: 0 },
    'logs kept for a year': { logRetentionDays: 365 },
    'more in the log': { logLevel: 'DEBUG' },
    'other profiles': { profiles: 'local,prod' },
    'answers in one piece': { responseStreaming: false },
    'a role for logs that is there': { apiLogRole: 'existing' },
    'data not protected': { protectData: false },
    'a thousand clusters, roles and secrets': {
      clusterArnPrefixes: arn('eks', 'cluster/'),
      accountRoleArnPrefixes: 'arn:aws:iam::123456789012:role/spinnaker/',
      accountSecretArnPrefixes: arn('secretsmanager', 'secret:spinnaker/'),
    },
    'a registry of ECR': { repositoryArnPrefixes: arn('ecr', 'repository/') },
    'repositories of ECR by name': { repositoryArns: arn('ecr', 'repository/shop/cart') },
    'two hundred secrets by name': {
      accountSecretArns: Array.from({ length: 200 }, (_, index) =>
        secret(`spinnaker/kubeconfig-${index}`),
      ).join(','),
    },
    'three hundred clusters by name': {
      clusterArns: Array.from({ length: 300 }, (_, index) => arn('eks', `cluster/production-${index}`)).join(
        ',',
      ),
      accountRoleArns: Array.from(
        { length: 20 },
        (_, index) => `arn:aws:iam::${210987654300 + index}:role/busdriver`,
      ).join(','),
    },
  },
  'private, endpoint made': {
    'an endpoint of the operator instead': { ...endpoint, clientCidrs: undefined },
    'other clients': { clientCidrs: '10.20.0.0/16,192.168.0.0/16' },
    'clients with IPv6': { clientCidrs: '10.20.0.0/16,2001:db8:12::/48' },
    'clients from everywhere': { clientCidrs: '0.0.0.0/0,::/0' },
    'nobody proves who he is': { authentication: 'none' },
    'an endpoint of another account beside it': { vpcEndpointIds: foreign },
  },
  'private, with a name': {
    'no name': { domainName: undefined, certificateArn: undefined },
    'a second endpoint': { vpcEndpointIds: 'vpce-0123456789abcdef0,vpce-0123456789abcdef1' },
    'an endpoint of another account beside it': { vpcEndpointIds: `vpce-0123456789abcdef0,${foreign}` },
  },
  'private, endpoint of another account': {
    'one of its own': { vpcEndpointIds: 'vpce-0123456789abcdef0' },
    'no name': { domainName: undefined, certificateArn: undefined },
  },
  'private, outside a VPC': { 'a VPC': vpc, 'agents of other clusters': { agents: true } },
  'private, with agents': {
    'no agents': { agents: undefined },
    'a VPC': vpc,
    'a role for logs that is there': { apiLogRole: 'existing' },
    'a name for agents': agentsDomain,
    'mutual TLS of agents': { ...agentsDomain, agentsTrustStore: 's3://trust/agents.pem?versionId=7' },
  },
  'public, shared secret': {
    'private instead': { publicApi: undefined, ...endpoint },
    'a secret that is made': { authorizerSecretArn: undefined, authentication: 'secret' },
    'callers known by IAM': {
      authorizerSecretArn: undefined,
      authentication: 'iam',
      callerArns: 'arn:aws:iam::210987654321:role/spinnaker',
    },
    'mutual TLS instead': { authorizerSecretArn: undefined, truststoreUri: 's3://trust/store.pem' },
    'mutual TLS beside it': { truststoreUri: 's3://trust/store.pem' },
  },
  'public, mutual TLS, in a VPC': {
    'another bundle': { truststoreUri: 's3://trust/other.pem' },
    'a version of the bundle': { truststoreVersion: '7' },
    'a secret beside it': { authentication: 'secret' },
  },
};

/** Every choice of options that is looked at. */
export const optionSets: readonly OptionSet[] = Object.entries(beginnings).flatMap(([name, options]) => [
  { name, options },
  ...Object.entries(changes[name] ?? {}).map(([change, changed]) => ({
    name: `${name}: ${change}`,
    options: dropUndefined({ ...options, ...changed }),
    from: name,
  })),
]);

function dropUndefined(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
