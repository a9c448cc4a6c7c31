/** What a provider says of itself, as data: routes of tasks, and grants and rules of AWS, are made of it, without loading the provider. */
export interface ProviderDeclaration {
  /** The plug-in's name. */
  readonly name: string;
  /** Whether it has operations, and so the routes of a provider's tasks (`/{cloudProvider}/task/{id}/owner`). Default: false. */
  readonly hasOperations?: boolean;
  /** Whether functions that reach its accounts assume roles, those that operators name. Default: false. */
  readonly assumesRoles?: boolean;
  /** Resources of AWS that its accounts use. Default: none. */
  readonly awsResources?: readonly AwsResource[];
}

/** Resources of one service of AWS, whose ARNs operators name by the options `<option>s` and `<option>Prefixes`. */
export interface AwsResource {
  /** `clusterArn` */
  readonly option: string;
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

/** Version of the kit for which packages with providers are written. It rises when they may have to change. */
export const kitVersion = 1;
