/** The identity that reads an object in S3. */
export interface S3Identity {
  /** An account's own key. Default: the credentials of the process. */
  readonly key?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Role assumed with the credentials of the process, not with a key. */
  readonly roleArn?: string | undefined;
  /** An external id that its trust policy may require. */
  readonly externalId?: string | undefined;
}

/** The endpoint of S3, and the region for signatures of its requests. */
export interface S3Endpoint {
  /** Without a path. */
  readonly url: string;
  readonly region: string;
}

/** What readers of S3 need of AWS: the endpoint and the signature. They send their requests themselves. */
export interface S3Service {
  /** S3 in a region; by default in the one of the process. @throws Error when no region is known. */
  getEndpoint(region?: string): Promise<S3Endpoint>;
  /**
   * The headers that sign a GET of a URL, by AWS' Signature Version 4. Its path must be percent-encoded as S3 requires.
   *
   * @throws Error that says which credentials are missing or refused.
   */
  signGet(url: URL, region: string, identity: S3Identity): Promise<Readonly<Record<string, string>>>;
}

/** Whether a server is one of Amazon's: others must not learn anything of the process's credentials. */
export function isAmazon(origin: string): boolean {
  return /(?:^|\.)(?:amazonaws\.(?:com|com\.cn|eu)|api\.aws)$/.test(new URL(origin).hostname);
}
