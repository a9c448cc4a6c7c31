import type { Options } from '../stacks/synthesize.ts';

/** A choice of options, and the one from which it differs in one option, or in some together. */
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
    agents: true,
    namePrefix: 'p'.repeat(16),
    stage: 's'.repeat(12),
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
const changes: { readonly [from: string]: { readonly [change: string]: Options } } = {
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
    'an account in a secret of the operator': { accountSecretArns: secret('kubeconfig') },
    'an artifact store': { artifactStoreBucket: 'stored-artifacts' },
    'a key of the operator': { encryptionKeyArn: arn('kms', 'key/01234567-89ab-cdef-0123-456789abcdef') },
    'a boundary': { permissionsBoundaryArn: 'arn:aws:iam::123456789012:policy/boundary' },
    'alarms to a topic': { alarmTopicArn: arn('sns', 'alarms') },
    'more at once': { concurrency: 'operations=60,agents=200' },
    'agents less often': { agentIntervalSeconds: 120 },
    'no archive': { archiveDays: 0 },
    'logs kept for a year': { logRetentionDays: 365 },
    'more in the log': { logLevel: 'DEBUG' },
    'a provider of a package': { providers: 'busdriver-provider-acme' },
    'other profiles': { profiles: 'local,prod' },
    'answers in one piece': { responseStreaming: false },
    'a role for logs that is there': { apiLogRole: 'existing' },
    'data not protected': { protectData: false },
    'a thousand clusters, roles and secrets': {
      clusterArnPrefixes: arn('eks', 'cluster/'),
      accountRoleArnPrefixes: 'arn:aws:iam::123456789012:role/spinnaker/',
      accountSecretArnPrefixes: arn('secretsmanager', 'secret:spinnaker/'),
    },
    'a registry of ECR': { repositoryArnPrefixes: arn('ecr', 'repository/', 'us-west-2') },
    'repositories of ECR by name': {
      repositoryArns: 'arn:aws:ecr:us-east-1:210987654321:repository/shop/cart',
    },
    'two hundred secrets by name': {
      accountSecretArns: Array.from({ length: 200 }, (_, index) =>
        secret(`spinnaker/kubeconfig-${index}`),
      ).join(','),
    },
    'three hundred clusters by name': {
      // Each AWS account has a role, which may look up its 15 clusters.
      clusterArns: Array.from(
        { length: 300 },
        (_, index) =>
          `arn:aws:eks:eu-west-1:${222_200_000_000 + (index % 20)}:cluster/team-${index % 60}-production-${index}`,
      ).join(','),
      accountRoleArns: Array.from(
        { length: 20 },
        (_, index) => `arn:aws:iam::${222_200_000_000 + index}:role/spinnaker/deployer`,
      ).join(','),
      accountSecretArns: [
        secret('spinnaker/edge'),
        'arn:aws:s3:::team-secrets/shop/ca.pem',
        arn('ssm', 'parameter/shop/token'),
      ].join(','),
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
    'a second endpoint, and one of another account': {
      vpcEndpointIds: `vpce-0123456789abcdef0,vpce-0123456789abcdef1,${foreign}`,
    },
  },
  'private, endpoint of another account': {
    'one of its own': { vpcEndpointIds: 'vpce-0123456789abcdef0' },
    'no name': { domainName: undefined, certificateArn: undefined },
  },
  'private, outside a VPC': { 'a VPC': vpc, 'a name': domain, 'agents of other clusters': { agents: true } },
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

/**
 * What is changed at once: what one change alone would do shows then, too. Some of these end where others begin, and cost nothing.
 */
const rounds: { readonly [from: string]: { readonly [round: string]: readonly string[] } } = {
  'private, endpoint of the operator': {
    'nobody proves who he is': ['nobody proves who he is'],
    'all that the operator may name': [
      ...['another endpoint', 'another VPC', 'other subnets', 'a name', 'a secret of the operator'],
      ...['settings in a secret of the operator', 'artifact accounts in a secret of the operator'],
      ...['an account in a secret of the operator', 'an artifact store', 'a key of the operator'],
      ...['a boundary', 'alarms to a topic', 'more at once', 'agents less often', 'no archive'],
      ...['logs kept for a year', 'more in the log', 'a provider of a package', 'other profiles'],
      'answers in one piece',
      'a role for logs that is there',
    ],
    'a hundred callers known by IAM, sixty ranges': ['a hundred callers known by IAM, sixty ranges'],
    'public, with a name, callers known by IAM': ['public instead', 'a name', 'callers known by IAM'],
    'clusters, roles, secrets and images by prefix, not protected': [
      ...['the same endpoint by its former name', 'a thousand clusters, roles and secrets'],
      ...['a registry of ECR', 'repositories of ECR by name', 'data not protected'],
    ],
    'two hundred secrets by name': ['two hundred secrets by name'],
    'three hundred clusters by name': ['three hundred clusters by name', 'nobody proves who he is'],
    'no VPC': ['no VPC'],
  },
  'private, endpoint made': {
    'an endpoint of the operator instead': ['an endpoint of the operator instead'],
    'clients with IPv6, and an endpoint of another account': [
      ...['clients with IPv6', 'nobody proves who he is', 'an endpoint of another account beside it'],
    ],
    'clients from everywhere': ['clients from everywhere'],
  },
  'private, with a name': {
    'no name': ['no name'],
    'a second endpoint, and one of another account': ['a second endpoint, and one of another account'],
  },
  'private, endpoint of another account': { 'one of its own, no name': ['one of its own', 'no name'] },
  'private, outside a VPC': { 'a name, and agents': ['a name', 'agents of other clusters'] },
  'private, with agents': {
    'all of agents': ['a VPC', 'a role for logs that is there', 'mutual TLS of agents'],
  },
  'public, mutual TLS, in a VPC': {
    'a secret beside it, another bundle': ['another bundle', 'a version of the bundle', 'a secret beside it'],
  },
};

/** Every choice of options that is always looked at. */
export const optionSets: readonly OptionSet[] = [
  ...Object.entries(beginnings).map(([name, options]) => ({ name, options })),
  ...Object.entries(rounds).flatMap(([from, each]) =>
    Object.entries(each).map(([round, names]) => change(from, round, names)),
  ),
];

/** Each change alone. */
export const singleChanges: readonly OptionSet[] = Object.entries(changes).flatMap(([from, each]) =>
  Object.keys(each).map((name) => change(from, `${name} alone`, [name])),
);

/** The set to which changes lead, one after the other. @throws Error when there is no such change */
function change(from: string, name: string, names: readonly string[]): OptionSet {
  const made = names.map((each) => {
    const changed = changes[from]?.[each];
    if (changed === undefined) throw new Error(`no change '${each}' of '${from}'`);
    return changed;
  });
  const options = Object.assign({}, beginnings[from], ...made) as Options;
  return { name: `${from}: ${name}`, options: dropUndefined(options), from };
}

/** The options of a set. @throws Error when there is none of that name */
export function getOptions(name: string): Options {
  const found = [...optionSets, ...singleChanges].find((set) => set.name === name);
  if (found === undefined) throw new Error(`no set of options '${name}'`);
  return found.options;
}

/** A list among the options of a set, such as the ARNs of clusters. */
export function getList(name: string, option: string): readonly string[] {
  return String(getOptions(name)[option]).split(',');
}

/** Options that change somewhere: in changes alone, and in what is always looked at. */
export function listChanged(): { readonly alone: readonly string[]; readonly always: ReadonlySet<string> } {
  const toNames = (sets: readonly Options[]) => new Set(sets.flatMap((each) => Object.keys(each)));
  const always = Object.entries(rounds).flatMap(([from, each]) =>
    Object.values(each).flatMap((names) => names.map((name) => changes[from]?.[name] ?? {})),
  );
  const alone = Object.values(changes).flatMap((each) => Object.values(each));
  return { alone: [...toNames(alone)], always: toNames(always) };
}

function dropUndefined(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
