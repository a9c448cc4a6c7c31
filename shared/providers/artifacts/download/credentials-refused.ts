import { FailedOperationError } from '#core/errors.ts';

/** An answer that says that credentials are needed, or of no use: 401. */
export class CredentialsRefusedError extends FailedOperationError {
  /** Scheme, host and port that answered: after a redirect another one than was asked. */
  readonly origin: string;
  /** Its headers `WWW-Authenticate`, joined by commas; empty where it has none. */
  readonly challenge: string;

  constructor(message: string, { origin = '', challenge = '' } = {}) {
    super(message);
    this.origin = origin;
    this.challenge = challenge;
  }
}
