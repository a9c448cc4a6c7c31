/** A Docker registry's credential with which a platform pulls images. It holds a secret: keep it from answers, logs, events and caches. */
export interface RegistryCredential {
  /** URL of the registry, without `/v2`. */
  readonly address: string;
  /** Empty where the account has none. */
  readonly email: string;
  /** `user:password` in base64; undefined for a registry without credentials. */
  readonly basicAuth: string | undefined;
}

/** Gives other providers the credentials of Docker registries' accounts, for secrets that pull images. */
export interface RegistryCredentialSource {
  /**
   * The current credentials of an account: passwords may be rotated.
   *
   * @throws NotFoundError when there is no such account; FailedOperationError naming the option that cannot be read; Error where
   *   credentials are withheld from this function.
   */
  getCredential(account: string): Promise<RegistryCredential>;
}
