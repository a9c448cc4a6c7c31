import type { APIGatewayProxyEvent } from 'aws-lambda';

/** Who a caller is, and how that is known. */
export interface Identity {
  /** Undefined for who did not say: Spinnaker's user `anonymous`. */
  readonly user: string | undefined;
  /** Accounts that he may use without Fiat, as Gate told them, in any case; undefined when nobody told any. */
  readonly allowedAccounts: readonly string[] | undefined;
  /** `header`: as the caller says. `signed`: as somebody trusted signed. `mtls`: as his certificate says, or whom it may speak for. */
  readonly kind: 'header' | 'signed' | 'mtls';
}

/** Tells who callers are. */
export interface Identifier {
  /**
   * Who sent a request.
   *
   * @throws UnauthenticatedError when the proof that the settings ask for is missing or wrong; UnavailableError when it cannot be
   *   looked at, because the keys for it cannot be had.
   */
  identify(event: APIGatewayProxyEvent): Promise<Identity>;
}
