import { FailedOperationError } from '#core/errors.ts';

/** An answer by which credentials are required or invalid: 401. */
export class CredentialsRefusedError extends FailedOperationError {
  /** The scheme, host and port that answered: after a redirect not the requested ones. */
  readonly origin: string;
  /** Its headers `WWW-Authenticate`, joined by commas; empty if it has none. */
  readonly challenge: string;

  constructor(message: string, { origin = '', challenge = '' } = {}) {
    super(message);
    this.origin = origin;
    this.challenge = challenge;
  }
}
