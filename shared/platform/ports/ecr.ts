/** A private registry of Amazon ECR, and as whom to read it. */
export interface EcrRegistry {
  /** The AWS account that it belongs to, 12 digits. */
  readonly registryId: string;
  readonly region: string;
  /** A role to assume first. Default: the identity of this process is used. */
  readonly roleArn?: string | undefined;
  /** What the role's trust policy may demand of those who assume it. */
  readonly externalId?: string | undefined;
}

/** What the registry itself takes for a user and a password. */
export interface EcrToken {
  /** `user:password` in base64, as `Authorization: Basic` has it. */
  readonly basic: string;
  /** How long it holds at most, wall time in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** A list's page that is asked for. */
export interface EcrPageOptions {
  /** Where the page before ended. Default: the first page. */
  readonly nextToken?: string | undefined;
  readonly signal: AbortSignal;
}

/** A page of names of repositories. */
export interface EcrRepositories {
  readonly names: readonly string[];
  /** Asks for the next page; undefined on the last one. */
  readonly nextToken?: string | undefined;
}

/** An image that has a tag. */
export interface EcrImage {
  readonly digest: string;
  readonly tags: readonly string[];
  /** When it was pushed, ISO 8601; undefined where ECR does not say so. */
  readonly pushedAt?: string | undefined;
}

/** A page of images. */
export interface EcrImages {
  readonly images: readonly EcrImage[];
  /** Asks for the next page; undefined on the last one. */
  readonly nextToken?: string | undefined;
}

/**
 * The API of Amazon ECR. Each call is made once, but for one that is signed anew where the session of a role has ended. It throws
 * ServiceBusyError for what a moment may mend, another Error that says what AWS refused, as whom, and what to do, and the signal's reason.
 */
export interface EcrService {
  /** A token by which the registry is read itself, for manifests and blobs. */
  getAuthorizationToken(registry: EcrRegistry, signal: AbortSignal): Promise<EcrToken>;
  /** Up to 1,000 repositories. */
  describeRepositories(registry: EcrRegistry, options: EcrPageOptions): Promise<EcrRepositories>;
  /** Up to 1,000 images of a repository that have a tag; undefined when there is no such repository. */
  describeImages(
    registry: EcrRegistry,
    repository: string,
    options: EcrPageOptions,
  ): Promise<EcrImages | undefined>;
}
