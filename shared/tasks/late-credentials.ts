import { FailedOperationError } from '#core/errors.ts';

/** Milliseconds since an account's credentials last worked within which its operations wait for new ones. */
export const credentialsWorkedMs = 3_600_000;

/** The platform of an account refuses its credentials, or there are none. The message is the cause that users see. */
export class CredentialsError extends FailedOperationError {
  override name = 'CredentialsError';
  /** When they worked last, wall time in milliseconds; undefined where that is unknown. */
  readonly workedAtMs: number | undefined;

  constructor(
    message: string,
    { workedAtMs, ...options }: ErrorOptions & { workedAtMs: number | undefined },
  ) {
    super(message, options);
    this.workedAtMs = workedAtMs;
  }
}

/** Whether new credentials may follow those that worked at this time and now fail. @param workedAtMs undefined for never */
export function mayBeRenewed(workedAtMs: number | undefined, nowMs: number): boolean {
  return workedAtMs !== undefined && nowMs - workedAtMs < credentialsWorkedMs;
}
