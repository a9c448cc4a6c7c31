/** As whom an object of S3 is read. */
export interface S3Identity {
  /** A key of an account's own. Default: the credentials of the process. */
  readonly key?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Role that is assumed by the credentials of the process, not by a key. */
  readonly roleArn?: string | undefined;
  /** What its trust policy may ask for. */
  readonly externalId?: string | undefined;
}

/** Where S3 is, and in which region what is sent there is signed. */
export interface S3Endpoint {
  /** Without a path. */
  readonly url: string;
  readonly region: string;
}

/** What readers of S3 need of AWS: the place and the signature. They send their requests themselves. */
export interface S3Service {
  /**
   * S3 in a region; by default in the one of the process.
   *
   * @throws Error when no region is known.
   */
  getEndpoint(region?: string): Promise<S3Endpoint>;
  /**
   * The headers that sign a GET of a URL, by AWS' signature version 4. Its path must be percent-encoded as S3 wants it.
   *
   * @throws Error that says which credentials are missing or refused.
   */
  signGet(url: URL, region: string, identity: S3Identity): Promise<Readonly<Record<string, string>>>;
}

/** Whether a server is one of Amazon's: others learn nothing of the credentials of the process. */
export function isAmazon(origin: string): boolean {
  return /(?:^|\.)(?:amazonaws\.(?:com|com\.cn|eu)|api\.aws)$/.test(new URL(origin).hostname);
}
