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
const endpoint = { vpcEndpointId: 'vpce-0123456789abcdef0' };
const sharedSecret = { authorizerSecretArn: secret('caller') };

/** Where operators begin. */
const beginnings: { readonly [name: string]: Options } = {
  'private, endpoint of the operator': { ...vpc, ...endpoint },
  'private, endpoint made': { ...vpc, clientCidrs: '10.0.0.0/8' },
  'private, with a name': { ...vpc, ...endpoint, ...domain },
  'private, outside a VPC': endpoint,
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
    'another endpoint': { vpcEndpointId: 'vpce-0123456789abcdef1' },
    'an endpoint made instead': { vpcEndpointId: undefined, clientCidrs: '10.0.0.0/8' },
    'another VPC': { vpcId: 'vpc-0123456789abcdef1' },
    'other subnets': { subnetIds: 'subnet-0123456789abcdef2,subnet-0123456789abcdef3' },
    'no VPC': { vpcId: undefined, subnetIds: undefined },
    'a name': domain,
    'public instead': { vpcEndpointId: undefined, publicApi: true, ...sharedSecret },
    'a shared secret': sharedSecret,
    'settings in a secret of the operator': { configSecretArn: secret('settings') },
    'artifact accounts in a secret of the operator': { artifactsSecretArn: secret('artifacts') },
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
    'other clients': { clientCidrs: '10.0.0.0/8,192.168.0.0/16' },
  },
  'private, with a name': { 'no name': { domainName: undefined, certificateArn: undefined } },
  'private, outside a VPC': { 'a VPC': vpc },
  'public, shared secret': {
    'private instead': { publicApi: undefined, ...endpoint },
    'mutual TLS instead': { authorizerSecretArn: undefined, truststoreUri: 's3://trust/store.pem' },
  },
  'public, mutual TLS, in a VPC': {
    'another bundle': { truststoreUri: 's3://trust/other.pem' },
    'a version of the bundle': { truststoreVersion: '7' },
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
