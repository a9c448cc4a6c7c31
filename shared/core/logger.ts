/** Fields of a structured log line. Never put a secret, a manifest or a request body here. */
export type LogFields = { readonly [key: string]: unknown };

/** A structured log: a static message, and what varies as fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
