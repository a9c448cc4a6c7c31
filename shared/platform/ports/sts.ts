/** A signed request that is sent by somebody else, to learn who signed it. */
export interface SignedCallerIdentity {
  /** Of the regional endpoint of STS, with its query. It is to be sent by POST, without a body. */
  readonly url: string;
  /** Every header, by its name in lower case; `host` and the signature are among them. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What others need of AWS' STS to know this process by its IAM identity. */
export interface StsService {
  /**
   * Signs a GetCallerIdentity as this process, by AWS' signature version 4. Nothing is sent.
   *
   * @param headers are signed, too. One that names the reader keeps the request from being of use to another.
   * @throws Error that says which credentials are missing, or that no region is known.
   */
  signCallerIdentity(headers: Readonly<Record<string, string>>): Promise<SignedCallerIdentity>;
}
