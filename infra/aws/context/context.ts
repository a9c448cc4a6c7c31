import { type AwsResource, awsResources } from '#providers/declarations.ts';
import { rangeType } from './address-ranges.ts';
import {
  flagType,
  makeChoiceType,
  makeCountsType,
  makeIntegerType,
  makeListType,
  makeNumberType,
  makeTextType,
  packageType,
  type ValueType,
} from './context-values.ts';

/**
 * How callers prove who they are: by a secret that they send as a bearer token, by AWS Signature Version 4, or not at all at this door,
 * which leaves it to the network or to mutual TLS.
 */
export type Authentication = 'secret' | 'iam' | 'none';

/** An interface endpoint through which callers come. */
export interface ApiEndpoint {
  /** `vpce-…` */
  readonly id: string;
  /** AWS account that has it, 12 digits; undefined for the one into which the stacks go. */
  readonly account: string | undefined;
}

/** Grants are made of ARNs: none may match several things. */
const anyName = '[^*?\\s]+';

const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const domainNameType = makeTextType(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'a name in lower case');

/** An option, and what it is where it is not given. */
interface Option<T, Otherwise = T> {
  readonly type: ValueType<T>;
  readonly otherwise: T | Otherwise;
}

/** What the operator may choose: options of `cdk -c name=value`, or of `context` in cdk.json. */
export const contextTable = {
  /** Name of this installation; part of every resource's name. Default `dev`. */
  stage: one(makeNameType(12), 'dev'),
  /** How every resource's name begins. Default `busdriver`. */
  namePrefix: one(makeNameType(16), 'busdriver'),
  /** Existing VPC in which functions that reach clusters or the internet run. Default: they run in none. */
  vpcId: optional(makeIdType('vpc')),
  /** Private subnets of `vpcId`, with a way to AWS and to the clusters. Needed with `vpcId`. */
  subnetIds: list(makeIdType('subnet')),
  /** Existing interface endpoints for `execute-api`, through which alone the API answers. Default: one is made in `vpcId`. */
  vpcEndpointIds: list(makeEndpointType()),
  /** The former name of `vpcEndpointIds`, for one endpoint of the stacks' own account. */
  vpcEndpointId: optional(makeIdType('vpce')),
  /** Address ranges, of IPv4 or IPv6, that may reach the endpoint that is made. Needed where one is made. */
  clientCidrs: list(rangeType),
  /** How callers prove who they are; undefined where another option says so, else it must be given: `decideAuthentication`. */
  authentication: optional(makeChoiceType('secret', 'iam', 'none')),
  /** With `iam`: ARNs of roles, users or accounts that may call. Default: whom the policies of the stacks' own account allow. */
  callerArns: list(makeArnType('iam', `(root|(role|user)/${anyName})`)),
  /** Name under which the API answers, without a stage in its path. Default: API Gateway's own name. */
  domainName: optional(domainNameType),
  /** Certificate for `domainName` in AWS Certificate Manager. Needed with `domainName`. */
  certificateArn: optional(makeArnType('acm', `certificate/${anyName}`)),
  /** Whether the API answers to the internet; needs authentication, or mutual TLS by `truststoreUri`. Default false. */
  publicApi: one(flagType, false),
  /** Mutual TLS: the bundle of trusted certificate authorities, `s3://bucket/key`. Default: no mutual TLS. */
  truststoreUri: optional(makeTextType(/^s3:\/\/[^/]+\/.+$/, 's3://bucket/key')),
  /** Version of the object at `truststoreUri`. Default: the newest. */
  truststoreVersion: optional(makeTextType(/^\S+$/, "an object's version")),
  /** Existing secret whose text callers send as `Authorization: Bearer …`. Default: one is made. */
  authorizerSecretArn: optional(makeSecretType()),
  /** Existing secret with Spinnaker's YAML: accounts and settings. Default: an empty one is made, for you to fill. */
  configSecretArn: optional(makeSecretType()),
  /** Existing secret with the artifact accounts, in Spinnaker's YAML. Default: an empty one is made, for you to fill. */
  artifactsSecretArn: optional(makeSecretType()),
  /** npm packages with further providers, whose code is bundled into the functions. Default: none. */
  providers: list(packageType),
  // Resources of AWS that accounts of providers use, and how the ARNs of such begin. Default: none.
  ...toResourceOptions(),
  /** Roles that functions may assume for accounts. Default: none. */
  accountRoleArns: list(makeArnType('iam', `role/${anyName}`)),
  /** How the ARNs of such roles begin, a path at least: `arn:aws:iam::123456789012:role/spinnaker/`. Default: none. */
  accountRoleArnPrefixes: list(
    makePrefixType('iam', 'role/([\\w+=,.@-]+/)+', 'arn:aws:iam::123456789012:role/spinnaker/'),
  ),
  /** Further secrets that accounts refer to, in Secrets Manager, S3 or Parameter Store: kubeconfigs, tokens. Default: none. */
  accountSecretArns: list(makeAccountSecretType()),
  /** How the ARNs of such secrets begin: `arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker/`. Default: none. */
  accountSecretArnPrefixes: list(makeAccountSecretPrefixType()),
  /** Bucket of S3 that is Spinnaker's artifact store, which functions may read. Default: none. */
  artifactStoreBucket: optional(makeTextType(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the name of a bucket')),
  /** Existing KMS key for tables and secrets; its policy must let IAM decide. Default: one is made. */
  encryptionKeyArn: optional(makeArnType('kms', `key/${anyName}`)),
  /** Managed policy that bounds every role. Default: none. */
  permissionsBoundaryArn: optional(makeArnType('iam', `policy/${anyName}`)),
  /** SNS topic that alarms notify. Default: alarms only show. */
  alarmTopicArn: optional(makeArnType('sns', anyName)),
  // Lambda polls a queue with two invocations at least, and a thousand at most.
  /** Invocations at once by queue, for example `operations=10`. Default: what functions/queues.ts says. */
  concurrency: one(makeCountsType(2, 1000), new Map()),
  /** Seconds between two runs of a caching agent whose account and settings name none, from 10 to 3600. Default 30. */
  agentIntervalSeconds: one(makeIntegerType(10, 3600), 30),
  /** Days for which events can be replayed; 0 for no archive. Default 30. */
  archiveDays: one(makeIntegerType(0, 3650), 30),
  /** Days for which logs are kept. Default 30. */
  logRetentionDays: one(makeNumberType(retentionDays), 30),
  /** Least level that functions log. Default INFO. */
  logLevel: one(makeChoiceType('DEBUG', 'INFO', 'WARN', 'ERROR'), 'INFO'),
  /** Spring profiles that are active in Spinnaker's YAML. Default `local`. */
  profiles: one(makeListType(makeTextType(/^[\w-]+$/, 'a word')), ['local']),
  /** Whether answers are streamed; false where the region has no response streaming. Default true. */
  responseStreaming: one(flagType, true),
  /** `create` sets the account's role with which API Gateway writes logs; `existing` when the account has one. Default create. */
  apiLogRole: one(makeChoiceType('create', 'existing'), 'create'),
  /** Whether agents of otherwise unreachable clusters may connect: it makes the stack `agents`. Default false. */
  agents: one(flagType, false),
  /** Name under which agents reach their API. Default: API Gateway's own name. */
  agentsDomainName: optional(domainNameType),
  /** Certificate for `agentsDomainName` in AWS Certificate Manager. Needed with it. */
  agentsCertificateArn: optional(makeArnType('acm', `certificate/${anyName}`)),
  /**
   * Mutual TLS of agents: the bundle of trusted certificate authorities, `s3://bucket/key`, with `?versionId=…` behind it for one version
   * of it. Default: no mutual TLS.
   */
  agentsTrustStore: optional(
    makeTextType(
      /^s3:\/\/[^/?]+\/[^?]+(\?versionId=[^&\s]+)?$/,
      's3://bucket/key or s3://bucket/key?versionId=…',
    ),
  ),
  /** Whether tables, key and secrets survive the stacks, and cannot be deleted by mistake. Default true. */
  protectData: one(flagType, true),
};

/** The options of the same names. */
export type Context = {
  readonly [Name in keyof typeof contextTable]: (typeof contextTable)[Name]['otherwise'];
};

/** The name of a resource: what it is called in the tables, behind prefix and stage. */
export function toResourceName(
  { namePrefix, stage }: Pick<Context, 'namePrefix' | 'stage'>,
  name: string,
): string {
  return `${namePrefix}-${stage}-${name}`;
}

function one<T>(type: ValueType<T>, otherwise: T): Option<T> {
  return { type, otherwise };
}

function optional<T>(type: ValueType<T>): Option<T, undefined> {
  return { type, otherwise: undefined };
}

function list<T>(item: ValueType<T>): Option<readonly T[]> {
  return { type: makeListType(item), otherwise: [] };
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

function toResourceOptions() {
  const options = awsResources.flatMap(({ option, service, path, prefix }) => {
    const example = `arn:aws:${service}:us-east-1:123456789012:${path}`;
    return [
      [`${option}s`, list(makeArnType(service, path + anyName))],
      [`${option}Prefixes`, list(makePrefixType(service, path + prefix, example))],
    ];
  });
  return Object.fromEntries(options) as Record<
    `${AwsResource['option']}${'s' | 'Prefixes'}`,
    Option<readonly string[]>
  >;
}

function makeArnType(service: string, resource: string): ValueType<string> {
  const pattern = new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:\\d{12}:${resource}$`);
  return makeTextType(pattern, `an ARN of ${service} without wildcards`);
}

/** How ARNs begin. It ends where a name or a step of a path does, so that nobody else's names begin alike. */
function makePrefixType(service: string, resource: string, example: string): ValueType<string> {
  const pattern = new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:\\d{12}:${resource}$`);
  return makeTextType(pattern, `how ARNs begin, without wildcards: ${example}`);
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
  const secret = makePrefixType(
    'secretsmanager',
    'secret:([\\w+=.@-]+/)+',
    'arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker/',
  );
  const other =
    /^arn:aws[a-z-]*:(s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/([\w.=@+-]+\/)*|ssm:[a-z0-9-]+:\d{12}:parameter\/([\w.-]+\/)+)$/;
  return {
    expected: `${secret.expected}, or arn:aws:s3:::bucket/ or arn:aws:ssm:us-east-1:123456789012:parameter/spinnaker/`,
    parse: (value) => secret.parse(value) ?? makeTextType(other, '').parse(value),
  };
}
