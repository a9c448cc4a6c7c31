/** A private registry of Amazon ECR, and the identity that reads it. */
export interface EcrRegistry {
  /** The AWS account that it belongs to, 12 digits. */
  readonly registryId: string;
  readonly region: string;
  /** A role to assume first. Default: none, this process's own identity. */
  readonly roleArn?: string | undefined;
  /** An external id that the role's trust policy may require. */
  readonly externalId?: string | undefined;
}

/** A token for the registry itself, as user and password. */
export interface EcrToken {
  /** `user:password` in base64, as `Authorization: Basic` has it. */
  readonly basic: string;
  /** When it expires at the latest, wall time in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** Which page of a list. */
export interface EcrPageOptions {
  /** Where the previous page ended. Default: the first page. */
  readonly nextToken?: string | undefined;
  readonly signal: AbortSignal;
}

/** A page of names of repositories. */
export interface EcrRepositories {
  readonly names: readonly string[];
  /** Selects the next page; undefined on the last one. */
  readonly nextToken?: string | undefined;
}

/** An image that has a tag. */
export interface EcrImage {
  readonly digest: string;
  readonly tags: readonly string[];
  /** When it was pushed, ISO 8601; undefined where ECR does not say. */
  readonly pushedAt?: string | undefined;
}

/** A page of images. */
export interface EcrImages {
  readonly images: readonly EcrImage[];
  /** Selects the next page; undefined on the last one. */
  readonly nextToken?: string | undefined;
}

/**
 * The API of Amazon ECR. Each call is made once, or again with a new signature where the session of a role has ended. It throws
 * ServiceBusyError for what may soon pass, another Error that says what AWS refused, to whom, and what to do, and the signal's reason.
 */
export interface EcrService {
  /** A token for reading the registry itself, its manifests and blobs. */
  getAuthorizationToken(registry: EcrRegistry, signal: AbortSignal): Promise<EcrToken>;
  /** Up to 1,000 repositories. */
  describeRepositories(registry: EcrRegistry, options: EcrPageOptions): Promise<EcrRepositories>;
  /** Up to 1,000 tagged images of a repository; undefined when there is no such repository. */
  describeImages(
    registry: EcrRegistry,
    repository: string,
    options: EcrPageOptions,
  ): Promise<EcrImages | undefined>;
}
