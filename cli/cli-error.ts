/** A failure of a command, as its user reads it. Its message holds no secret. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  /** The next step, one sentence without a full stop. */
  readonly next: string | undefined;
  /** 1 where something failed, 2 where the command line is wrong. */
  readonly exitCode: 1 | 2;

  constructor(message: string, options: ErrorOptions & { next?: string | undefined; exitCode?: 1 | 2 } = {}) {
    super(message, options);
    this.next = options.next;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** A server answered with an error. */
export class ApiError extends CliError {
  override readonly name = 'ApiError';
  /** HTTP status. */
  readonly status: number;

  constructor(status: number, message: string, next?: string) {
    super(message, { next });
    this.status = status;
  }
}
