import type { IConstruct } from 'constructs';
import { findNearName } from '#core/near-name.ts';
import { rangeType } from './address-ranges.ts';
import type { ApiEndpoint, Context } from './context.ts';
import { findContradictions } from './context-rules.ts';
import {
  flagType,
  makeChoiceType,
  makeCountsType,
  makeIntegerType,
  makeListType,
  makeNumberType,
  makeTextType,
  type ValueType,
} from './context-values.ts';
import { type Destination, findMisplaced } from './destination.ts';

/** Context options that cannot be accepted. The message has one line for each. */
export class ContextError extends Error {
  override readonly name = 'ContextError';

  constructor(problems: readonly string[]) {
    super(['The context options cannot be accepted:', ...problems.map((one) => `  ${one}`)].join('\n'));
  }
}

interface Option<T> {
  readonly type: ValueType<NonNullable<T>>;
  /** The value when the option is not given. */
  readonly otherwise: T;
}

/** Grants are made of ARNs: none may match several things. */
const anyName = '[^*?\\s]+';

const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const domainNameType = makeTextType(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a name in lower case');

const options: { readonly [K in keyof Context]: Option<Context[K]> } = {
  stage: { type: makeNameType(12), otherwise: 'dev' },
  namePrefix: { type: makeNameType(16), otherwise: 'busdriver' },
  vpcId: { type: makeIdType('vpc'), otherwise: undefined },
  subnetIds: { type: makeListType(makeIdType('subnet')), otherwise: [] },
  vpcEndpointIds: { type: makeListType(makeEndpointType()), otherwise: [] },
  vpcEndpointId: { type: makeIdType('vpce'), otherwise: undefined },
  clientCidrs: { type: makeListType(rangeType), otherwise: [] },
  authentication: { type: makeChoiceType('secret', 'iam', 'none'), otherwise: undefined },
  callerArns: {
    type: makeListType(makeArnType('iam', `(root|(role|user)/${anyName})`)),
    otherwise: [],
  },
  domainName: { type: domainNameType, otherwise: undefined },
  certificateArn: { type: makeArnType('acm', `certificate/${anyName}`), otherwise: undefined },
  publicApi: { type: flagType, otherwise: false },
  truststoreUri: { type: makeTextType(/^s3:\/\/[^/]+\/.+$/, 's3://bucket/key'), otherwise: undefined },
  truststoreVersion: { type: makeTextType(/^\S+$/, "an object's version"), otherwise: undefined },
  authorizerSecretArn: { type: makeSecretType(), otherwise: undefined },
  configSecretArn: { type: makeSecretType(), otherwise: undefined },
  artifactsSecretArn: { type: makeSecretType(), otherwise: undefined },
  clusterArns: { type: makeListType(makeArnType('eks', `cluster/${anyName}`)), otherwise: [] },
  clusterArnPrefixes: { type: makeListType(makePrefixType('eks', 'cluster/[\\w-]*')), otherwise: [] },
  accountRoleArns: { type: makeListType(makeArnType('iam', `role/${anyName}`)), otherwise: [] },
  accountRoleArnPrefixes: {
    type: makeListType(makePrefixType('iam', 'role/([\\w+=,.@-]+/)+')),
    otherwise: [],
  },
  accountSecretArns: { type: makeListType(makeAccountSecretType()), otherwise: [] },
  accountSecretArnPrefixes: {
    type: makeListType(makeAccountSecretPrefixType()),
    otherwise: [],
  },
  artifactStoreBucket: {
    type: makeTextType(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the name of a bucket'),
    otherwise: undefined,
  },
  repositoryArns: { type: makeListType(makeArnType('ecr', `repository/${anyName}`)), otherwise: [] },
  repositoryArnPrefixes: {
    type: makeListType(makePrefixType('ecr', 'repository/([\\w.-]+/)*')),
    otherwise: [],
  },
  encryptionKeyArn: { type: makeArnType('kms', `key/${anyName}`), otherwise: undefined },
  permissionsBoundaryArn: { type: makeArnType('iam', `policy/${anyName}`), otherwise: undefined },
  alarmTopicArn: { type: makeArnType('sns', anyName), otherwise: undefined },
  // Lambda polls a queue with two invocations at least, and a thousand at most.
  concurrency: { type: makeCountsType(2, 1000), otherwise: new Map() },
  agentIntervalSeconds: { type: makeIntegerType(10, 3600), otherwise: 30 },
  archiveDays: { type: makeIntegerType(0, 3650), otherwise: 30 },
  logRetentionDays: { type: makeNumberType(retentionDays), otherwise: 30 },
  logLevel: { type: makeChoiceType('DEBUG', 'INFO', 'WARN', 'ERROR'), otherwise: 'INFO' },
  profiles: { type: makeListType(makeTextType(/^[\w-]+$/, 'a word')), otherwise: ['local'] },
  responseStreaming: { type: flagType, otherwise: true },
  apiLogRole: { type: makeChoiceType('create', 'existing'), otherwise: 'create' },
  agents: { type: flagType, otherwise: false },
  agentsDomainName: { type: domainNameType, otherwise: undefined },
  agentsCertificateArn: { type: makeArnType('acm', `certificate/${anyName}`), otherwise: undefined },
  agentsTrustStore: {
    type: makeTextType(
      /^s3:\/\/[^/?]+\/[^?]+(\?versionId=[^&\s]+)?$/,
      's3://bucket/key or s3://bucket/key?versionId=…',
    ),
    otherwise: undefined,
  },
  protectData: { type: flagType, otherwise: true },
};

/** Names of all options. */
export const contextOptions: readonly string[] = Object.keys(options);

/** Whatever knows the options of the app: a construct of it, or what stands for one where the CDK is not loaded. */
export interface ContextHolder {
  readonly node: Pick<IConstruct['node'], 'getAllContext' | 'tryGetContext'>;
}

/**
 * Reads the context options of an app.
 *
 * @param destination where the stacks go, as far as it is known
 * @throws ContextError with every option that is unknown, of another form than expected, contradicts another one, or names what
 *   cannot be used where the stacks go.
 */
export function readContext({ node }: ContextHolder, destination: Destination = {}): Context {
  const problems = findUnknownOptions(node.getAllContext());
  const entries = Object.entries(options).map(([name, { type, otherwise }]) => {
    const given: unknown = node.tryGetContext(name);
    const value: unknown = given === undefined ? otherwise : type.parse(given);
    if (given !== undefined && value === undefined)
      problems.push(`${name}: expected ${type.expected}, not ${JSON.stringify(given)}`);
    return [name, value];
  });
  const context = Object.fromEntries(entries) as Context;
  if (problems.length === 0)
    problems.push(...findContradictions(context), ...findMisplaced(context, destination));
  if (problems.length > 0) throw new ContextError(problems);
  return context;
}

/** CDK's own keys have a colon, a slash or a dash in them; any other word that we do not know is a slip of the pen. */
function findUnknownOptions(given: { readonly [name: string]: unknown }): string[] {
  return Object.keys(given)
    .filter((name) => /^[A-Za-z]+$/.test(name) && !contextOptions.includes(name))
    .map((name) => {
      const near = findNearName(name, contextOptions);
      const advice = near === undefined ? '' : `did you mean '${near}'? `;
      return `${name}: ${advice}Expected one of ${contextOptions.join(', ')}`;
    });
}

function makeNameType(lengthMax: number): ValueType<string> {
  const pattern = new RegExp(`^[a-z][a-z0-9-]{0,${lengthMax - 1}}(?<!-)$`);
  return makeTextType(pattern, `lower-case letters, digits and dashes, at most ${lengthMax}, a letter first`);
}

function makeIdType(prefix: string): ValueType<string> {
  return makeTextType(new RegExp(`^${prefix}-[0-9a-f]{8,17}$`), `an id like ${prefix}-0123456789abcdef0`);
}

/** `vpce-…`, with the AWS account and a slash before it where that is another one than the stacks'. */
function makeEndpointType(): ValueType<ApiEndpoint> {
  return {
    expected:
      'an id like vpce-0123456789abcdef0, of another AWS account like 111122223333/vpce-0123456789abcdef0',
    parse(value) {
      const [, account, id] = /^(?:(\d{12})\/)?(vpce-[0-9a-f]{8,17})$/.exec(String(value)) ?? [];
      return id === undefined ? undefined : { id, account };
    },
  };
}

function makeArnType(service: string, resource: string): ValueType<string> {
  const pattern = new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:\\d{12}:${resource}$`);
  return makeTextType(pattern, `an ARN of ${service} without wildcards`);
}

/** How ARNs begin. It ends where a name or a step of a path does, so that nobody else's names begin alike. */
function makePrefixType(service: string, resource: string): ValueType<string> {
  const pattern = new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:\\d{12}:${resource}$`);
  const examples: { readonly [service: string]: string } = {
    eks: 'arn:aws:eks:us-east-1:123456789012:cluster/',
    ecr: 'arn:aws:ecr:us-east-1:123456789012:repository/',
    iam: 'arn:aws:iam::123456789012:role/spinnaker/',
    secretsmanager: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker/',
  };
  return makeTextType(pattern, `how ARNs begin, without wildcards: ${examples[service]}`);
}

/** Grants name secrets by their whole ARN: without the six characters at its end they would need a wildcard. */
function makeSecretType(): ValueType<string> {
  const { parse } = makeArnType('secretsmanager', `secret:${anyName}-[A-Za-z0-9]{6}`);
  return { expected: 'the whole ARN of a secret, with the six characters at its end', parse };
}

/** Secrets that accounts refer to: in Secrets Manager, objects in S3, parameters of Parameter Store. */
function makeAccountSecretType(): ValueType<string> {
  const secret = makeSecretType();
  const other =
    /^arn:aws[a-z-]*:(s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/[\w!.()'/=@+ -]+|ssm:[a-z0-9-]+:\d{12}:parameter\/[\w./-]+)$/;
  return {
    expected: `${secret.expected}, or that of an object in S3 or a parameter, without wildcards`,
    parse: (value) => secret.parse(value) ?? makeTextType(other, '').parse(value),
  };
}

/** How ARNs of such secrets begin. */
function makeAccountSecretPrefixType(): ValueType<string> {
  const secret = makePrefixType('secretsmanager', 'secret:([\\w+=.@-]+/)+');
  const other =
    /^arn:aws[a-z-]*:(s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/([\w.=@+-]+\/)*|ssm:[a-z0-9-]+:\d{12}:parameter\/([\w.-]+\/)+)$/;
  return {
    expected: `${secret.expected}, or arn:aws:s3:::bucket/ or arn:aws:ssm:us-east-1:123456789012:parameter/spinnaker/`,
    parse: (value) => secret.parse(value) ?? makeTextType(other, '').parse(value),
  };
}
