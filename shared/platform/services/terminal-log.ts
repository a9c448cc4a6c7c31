import { stripVTControlCharacters } from 'node:util';
import type { LogFields, Logger } from '#core/logger.ts';
import type { LogLevel } from '../config.ts';
import { wallClock } from './system.ts';

/** Levels, in ascending order. */
const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'] as const satisfies readonly LogLevel[];

/** Fields for programs rather than people. */
const hiddenFields = new Set(['awsRequestId', 'requestId', 'sampling_rate']);

/** Characters of one value that are shown. */
const valueLengthMax = 300;

interface TerminalLoggerOptions {
  /** Least level that is shown. */
  readonly logLevel: LogLevel;
  /** Writes a line without its end. */
  readonly write: (line: string) => void;
  /** The fields of the current work, with those of the line; errors as objects of texts. */
  readonly toFields: (fields: LogFields | undefined) => LogFields;
  /** The current time. Default the machine's. */
  readonly now?: () => Date;
}

/** A log for the user of a terminal, a line for each event: time, level, message, and fields as `name=value`. */
export function createTerminalLogger({
  logLevel,
  write,
  toFields,
  now = () => new Date(wallClock.now()),
}: TerminalLoggerOptions): Logger {
  const log = (level: (typeof levels)[number]) => (message: string, fields?: LogFields) => {
    if (levels.indexOf(level) < levels.indexOf(logLevel)) return;
    const [, time = ''] = /T([\d:]{8})/.exec(now().toISOString()) ?? [];
    write([`${time} ${level.padEnd(5)} ${message}`, ...formatFields(toFields(fields))].join('  '));
  };
  return { debug: log('DEBUG'), info: log('INFO'), warn: log('WARN'), error: log('ERROR') };
}

function formatFields(fields: LogFields): readonly string[] {
  return Object.entries(fields)
    .filter(([name, value]) => value !== undefined && !hiddenFields.has(name))
    .map(([name, value]) => `${name}=${formatValue(value)}`);
}

/** One line without control characters: a value from outside must not control the terminal. */
function formatValue(value: unknown): string {
  const text = toText(value).slice(0, valueLengthMax);
  const clean = stripVTControlCharacters(text).replaceAll(/\p{Cc}+/gu, ' ');
  return /^[^\s"=]+$/.test(clean) ? clean : JSON.stringify(clean);
}

/** An error as its name and message: its stack is in a log that goes to a file or a pipe. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && 'stack' in value && 'message' in value) {
    return String(value.message);
  }
  return JSON.stringify(value) ?? String(value);
}
