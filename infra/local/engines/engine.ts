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

/** What a caller says of one call. */
export interface CallOptions {
  /** Aborted when the caller goes away: it gets no messages. */
  readonly signal?: AbortSignal | undefined;
}

/** A service of AWS in this process. */
export interface Engine extends AsyncDisposable {
  /**
   * Does what a command of the AWS SDK asks for.
   *
   * @param action such as `PutItem`
   * @param input that of the command
   * @returns its output
   * @throws AwsError for what the service refuses, and for an action that is not served here; Error once it is disposed of
   */
  perform(action: string, input: object, options?: CallOptions): Promise<object>;
}

/** The action of a name. @throws AwsError UnknownOperationException */
export function findAction<A>(actions: { readonly [name: string]: A }, name: string): A {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action !== undefined) return action;
  throw new AwsError('UnknownOperationException', `'${name}' is no action that is served here.`);
}
