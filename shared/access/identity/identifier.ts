import type { APIGatewayProxyEvent } from 'aws-lambda';

/** The identity of a caller, and how it is known. */
export interface Identity {
  /** Undefined for a caller that did not say: Spinnaker's user `anonymous`. */
  readonly user: string | undefined;
  /** Accounts that they may use without Fiat, by Gate, in any case; undefined when it names none. */
  readonly allowedAccounts: readonly string[] | undefined;
  /** `header`: the caller's claim. `signed`: signed by a trusted party. `mtls`: by the certificate, or the user whom it speaks for. */
  readonly kind: 'header' | 'signed' | 'mtls';
}

/** Identifies callers. */
export interface Identifier {
  /**
   * The identity of a request's caller.
   *
   * @throws UnauthenticatedError when the proof that the settings ask for is missing or wrong; UnavailableError when keys to check it
   *   cannot be had.
   */
  identify(event: APIGatewayProxyEvent): Promise<Identity>;
}
