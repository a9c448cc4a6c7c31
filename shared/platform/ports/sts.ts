/** A signed request that another party sends, to learn who signed it. */
export interface SignedCallerIdentity {
  /** URL of STS' regional endpoint, with its query. Send it by POST, without a body. */
  readonly url: string;
  /** Every header, by its name in lower case, including `host` and the signature. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What other parties need of AWS' STS to identify this process by its IAM identity. */
export interface StsService {
  /**
   * Signs a GetCallerIdentity as this process, by AWS' Signature Version 4. Nothing is sent.
   *
   * @param headers are signed, too. One that names the recipient makes the request useless to others.
   * @throws Error that says which credentials are missing, or that no region is known.
   */
  signCallerIdentity(headers: Readonly<Record<string, string>>): Promise<SignedCallerIdentity>;
}
