/** An answer that the front door makes itself, without a function. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** 4xx or 5xx. */
  readonly status: number;
  /** Further headers of the answer. */
  readonly headers: { readonly [name: string]: string };

  constructor(status: number, message: string, headers: { readonly [name: string]: string } = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** A function answered what is no result of API Gateway's proxy integration. */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError';
}
