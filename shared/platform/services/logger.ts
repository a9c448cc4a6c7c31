import { AsyncLocalStorage } from 'node:async_hooks';
import { Console } from 'node:console';
import { Logger as PowertoolsLogger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import type { LogFields, Logger } from '#core/logger.ts';
import type { Config } from '../config.ts';
import { createTerminalLogger } from './terminal-log.ts';

/** The fields of the current work: those given with it, and those added since. */
const scope = new AsyncLocalStorage<{ fields: LogFields }>();

/** Runs `work` so that every line logged within carries these fields. */
export function runWithLogFields<T>(fields: LogFields, work: () => T): T {
  return scope.run({ fields: { ...scope.getStore()?.fields, ...fields } }, work);
}

/** Adds fields to every later line within the innermost `runWithLogFields`. Elsewhere does nothing. */
export function addLogFields(fields: LogFields): void {
  const current = scope.getStore();
  if (current !== undefined) current.fields = { ...current.fields, ...fields };
}

/** A text among the fields of the current work; undefined where it has none of this name. */
export function findLogField(name: string): string | undefined {
  const value = scope.getStore()?.fields[name];
  return typeof value === 'string' ? value : undefined;
}

/** The fields that identify a function's invocation. */
export function toInvocationFields({
  functionName,
  awsRequestId,
}: Pick<Context, 'functionName' | 'awsRequestId'>): LogFields {
  return { function: functionName, awsRequestId };
}

interface LoggerOptions extends Pick<Config, 'logLevel' | 'placement'> {
  /** Format of one machine's log. Default: `text`, readable lines, where standard error is a terminal, else `json`. */
  readonly format?: 'json' | 'text' | undefined;
}

/**
 * The structured log: JSON lines with the fields of the invocation. Locally it goes to standard error, since standard output has the
 * command line's answers; on a terminal, as readable lines.
 */
export function createLogger({ logLevel, placement, format }: LoggerOptions): Logger {
  const toExtra = (fields?: LogFields): LogFields => toLoggable({ ...scope.getStore()?.fields, ...fields });
  const isForPeople = format === undefined ? process.stderr.isTTY : format === 'text';
  if (placement === 'local' && isForPeople) {
    return createTerminalLogger({
      logLevel,
      toFields: toExtra,
      write: (line) => void process.stderr.write(`${line}\n`),
    });
  }
  const log = new PowertoolsLogger({ serviceName: 'busdriver', logLevel });
  if (placement === 'local') sendToStandardError(log);
  return {
    debug: (message, fields) => log.debug(message, toExtra(fields)),
    info: (message, fields) => log.info(message, toExtra(fields)),
    warn: (message, fields) => log.warn(message, toExtra(fields)),
    error: (message, fields) => log.error(message, toExtra(fields)),
  };
}

/** Causes of an error that are logged, nested. */
export const loggedCausesMax = 5;

/**
 * Fields with only the loggable part of errors. Powertools would log every other property: bytes of an answer that could not be parsed,
 * arguments of a program, a whole request with its headers.
 */
function toLoggable(fields: LogFields): LogFields {
  const entries = Object.entries(fields).map(
    ([key, value]) => [key, value instanceof Error ? toLoggedError(value) : value] as const,
  );
  return Object.fromEntries(entries);
}

function toLoggedError(error: Error, causes = loggedCausesMax): LogFields {
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    name,
    message,
    ...(code !== undefined && { code }),
    stack,
    ...(cause instanceof Error && causes > 0 && { cause: toLoggedError(cause, causes - 1) }),
  };
}

/** Powertools has no option for the stream; its console is declared private, but is an ordinary property. */
function sendToStandardError(log: PowertoolsLogger): void {
  Object.defineProperty(log, 'console', { value: new Console(process.stderr) });
}
