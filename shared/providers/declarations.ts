import { declaration as dockerRegistry } from './docker-registry/declaration.ts';
import { declaration as kubernetes } from './kubernetes/declaration.ts';

const all = [kubernetes, dockerRegistry] as const;

/** What a provider says of itself, as data: grants and rules of AWS are made of it, without loading the provider. */
export interface ProviderDeclaration {
  /** Whether functions that reach its accounts assume roles, those that operators name. */
  readonly assumesRoles: boolean;
  /** Resources of AWS that its accounts use. */
  readonly awsResources: readonly AwsResource[];
}

/** Resources of one service of AWS, whose ARNs operators name by the options `<option>s` and `<option>Prefixes`. */
export interface AwsResource {
  /** `clusterArn` */
  readonly option: (typeof all)[number]['awsResources'][number]['option'];
  /** The service's name in ARNs and events: `eks`. */
  readonly service: string;
  /** How the resource begins in its ARN: `cluster/`. */
  readonly path: string;
  /** What may follow there in the beginning of several ARNs, as a regular expression. */
  readonly prefix: string;
  /** What functions that reach accounts may do to those that are named, in IAM's words. */
  readonly actions: readonly string[];
  /** The same, if any are named, where IAM knows no resources. Default: none. */
  readonly generalActions?: readonly string[];
  /** Events of the named ones' accounts and regions that caching agents hear. Default: none. */
  readonly events?: readonly AwsEventPattern[];
}

/** Which events of a service of AWS. */
export interface AwsEventPattern {
  /** `aws.ecr` */
  readonly source: string;
  /** `ECR Image Action` */
  readonly detailType: string;
  /** Members of the detail, each with the values that it may have. */
  readonly detail: { readonly [member: string]: readonly string[] };
}

/** The declarations of providers that have one. */
export const declarations: readonly ProviderDeclaration[] = all;

/** The resources of all of them. */
export const awsResources: readonly AwsResource[] = declarations.flatMap((each) => each.awsResources);
