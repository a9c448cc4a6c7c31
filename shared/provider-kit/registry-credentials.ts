/** What a platform pulls the images of a Docker registry with. It holds a secret: keep it from answers, logs, events and caches. */
export interface RegistryCredential {
  /** URL of the registry, without `/v2`. */
  readonly address: string;
  /** Empty where the account has none. */
  readonly email: string;
  /** `user:password` in base64; undefined for a registry that is open to everybody. */
  readonly basicAuth: string | undefined;
}

/** Gives the credentials of accounts of Docker registries to other providers, for secrets that pull images. */
export interface RegistryCredentialSource {
  /**
   * The credentials of an account as they are now: passwords may be rotated.
   *
   * @throws NotFoundError when there is no such account; FailedOperationError naming the option that cannot be read; Error where
   *   credentials are withheld from this function.
   */
  getCredential(account: string): Promise<RegistryCredential>;
}
