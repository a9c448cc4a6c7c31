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

/** What the operator may choose: options of `cdk -c name=value`, or of `context` in cdk.json. */
export interface Context {
  /** Name of this installation; part of every resource's name. Default `dev`. */
  readonly stage: string;
  /** How every resource's name begins. Default `busdriver`. */
  readonly namePrefix: string;
  /** Existing VPC in which functions that reach clusters or the internet run. Default: they run in none. */
  readonly vpcId: string | undefined;
  /** Private subnets of `vpcId`, with a way to AWS and to the clusters. Needed with `vpcId`. */
  readonly subnetIds: readonly string[];
  /** Existing interface endpoints for `execute-api`, through which alone the API answers. Default: one is made in `vpcId`. */
  readonly vpcEndpointIds: readonly ApiEndpoint[];
  /** The former name of `vpcEndpointIds`, for one endpoint of the stacks' own account. */
  readonly vpcEndpointId: string | undefined;
  /** Address ranges, of IPv4 or IPv6, that may reach the endpoint that is made. Needed where one is made. */
  readonly clientCidrs: readonly string[];
  /** How callers prove who they are; undefined where another option says so, else it must be given: `decideAuthentication`. */
  readonly authentication: Authentication | undefined;
  /** With `iam`: ARNs of roles, users or accounts that may call. Default: whom the policies of the stacks' own account allow. */
  readonly callerArns: readonly string[];
  /** Name under which the API answers, without a stage in its path. Default: API Gateway's own name. */
  readonly domainName: string | undefined;
  /** Certificate for `domainName` in AWS Certificate Manager. Needed with `domainName`. */
  readonly certificateArn: string | undefined;
  /** Whether the API answers to the internet; needs authentication, or mutual TLS by `truststoreUri`. Default false. */
  readonly publicApi: boolean;
  /** Mutual TLS: the bundle of trusted certificate authorities, `s3://bucket/key`. Default: no mutual TLS. */
  readonly truststoreUri: string | undefined;
  /** Version of the object at `truststoreUri`. Default: the newest. */
  readonly truststoreVersion: string | undefined;
  /** Existing secret whose text callers send as `Authorization: Bearer …`. Default: one is made. */
  readonly authorizerSecretArn: string | undefined;
  /** Existing secret with Spinnaker's YAML: accounts and settings. Default: an empty one is made, for you to fill. */
  readonly configSecretArn: string | undefined;
  /** Existing secret with the artifact accounts, in Spinnaker's YAML. Default: an empty one is made, for you to fill. */
  readonly artifactsSecretArn: string | undefined;
  /** EKS clusters whose endpoint and certificate authority functions may look up. Default: none. */
  readonly clusterArns: readonly string[];
  /** How the ARNs of such clusters begin: `arn:aws:eks:us-east-1:123456789012:cluster/` for all of an account's. Default: none. */
  readonly clusterArnPrefixes: readonly string[];
  /** Roles that functions may assume for accounts. Default: none. */
  readonly accountRoleArns: readonly string[];
  /** How the ARNs of such roles begin, a path at least: `arn:aws:iam::123456789012:role/spinnaker/`. Default: none. */
  readonly accountRoleArnPrefixes: readonly string[];
  /** Further secrets that accounts refer to, in Secrets Manager, S3 or Parameter Store: kubeconfigs, tokens. Default: none. */
  readonly accountSecretArns: readonly string[];
  /** How the ARNs of such secrets begin: `arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker/`. Default: none. */
  readonly accountSecretArnPrefixes: readonly string[];
  /** Bucket of S3 that is Spinnaker's artifact store, which functions may read. Default: none. */
  readonly artifactStoreBucket: string | undefined;
  /** Repositories of Amazon ECR that accounts read, and whose pushes are heard. Default: none. */
  readonly repositoryArns: readonly string[];
  /** How the ARNs of such repositories begin: `arn:aws:ecr:us-east-1:123456789012:repository/` for all of a registry. Default: none. */
  readonly repositoryArnPrefixes: readonly string[];
  /** Existing KMS key for tables and secrets; its policy must let IAM decide. Default: one is made. */
  readonly encryptionKeyArn: string | undefined;
  /** Managed policy that bounds every role. Default: none. */
  readonly permissionsBoundaryArn: string | undefined;
  /** SNS topic that alarms notify. Default: alarms only show. */
  readonly alarmTopicArn: string | undefined;
  /** Invocations at once by queue, for example `operations=10`. Default: what functions/queues.ts says. */
  readonly concurrency: ReadonlyMap<string, number>;
  /** Seconds between two runs of a caching agent whose account and settings name none, from 10 to 3600. Default 30. */
  readonly agentIntervalSeconds: number;
  /** Days for which events can be replayed; 0 for no archive. Default 30. */
  readonly archiveDays: number;
  /** Days for which logs are kept. Default 30. */
  readonly logRetentionDays: number;
  /** Least level that functions log. Default INFO. */
  readonly logLevel: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  /** Spring profiles that are active in Spinnaker's YAML. Default `local`. */
  readonly profiles: readonly string[];
  /** Whether answers are streamed; false where the region has no response streaming. Default true. */
  readonly responseStreaming: boolean;
  /** `create` sets the account's role with which API Gateway writes logs; `existing` when the account has one. Default create. */
  readonly apiLogRole: 'create' | 'existing';
  /** Whether agents of otherwise unreachable clusters may connect: it makes the stack `agents`. Default false. */
  readonly agents: boolean;
  /** Name under which agents reach their API. Default: API Gateway's own name. */
  readonly agentsDomainName: string | undefined;
  /** Certificate for `agentsDomainName` in AWS Certificate Manager. Needed with it. */
  readonly agentsCertificateArn: string | undefined;
  /**
   * Mutual TLS of agents: the bundle of trusted certificate authorities, `s3://bucket/key`, with `?versionId=…` behind it for one version
   * of it. Default: no mutual TLS.
   */
  readonly agentsTrustStore: string | undefined;
  /** Whether tables, key and secrets survive the stacks, and cannot be deleted by mistake. Default true. */
  readonly protectData: boolean;
}

/** The name of a resource: what it is called in the tables, behind prefix and stage. */
export function toResourceName(
  { namePrefix, stage }: Pick<Context, 'namePrefix' | 'stage'>,
  name: string,
): string {
  return `${namePrefix}-${stage}-${name}`;
}
