/** A refusal as an AWS service words it: the SDK shows `code` as the error's name. */
export class AwsError extends Error {
  override readonly name = 'AwsError';
  /** AWS' name of the error, for example `QueueDoesNotExist`. */
  readonly code: string;
  /** HTTP status. */
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}
