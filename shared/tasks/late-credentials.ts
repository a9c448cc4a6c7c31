import { FailedOperationError } from '#core/errors.ts';

/** Milliseconds within which an account's credentials must have worked for its operations to wait for others. */
export const credentialsWorkedMs = 3_600_000;

/** The platform of an account refuses its credentials, or there are none: its cause, which is what people are told. */
export class CredentialsError extends FailedOperationError {
  override name = 'CredentialsError';
  /** When they worked last, wall time in milliseconds; undefined where nobody knows of any time. */
  readonly workedAtMs: number | undefined;

  constructor(
    message: string,
    { workedAtMs, ...options }: ErrorOptions & { workedAtMs: number | undefined },
  ) {
    super(message, options);
    this.workedAtMs = workedAtMs;
  }
}

/** Whether credentials that worked at this time, and do no longer, may be followed by others. @param workedAtMs undefined for never */
export function mayBeRenewed(workedAtMs: number | undefined, nowMs: number): boolean {
  return workedAtMs !== undefined && nowMs - workedAtMs < credentialsWorkedMs;
}
