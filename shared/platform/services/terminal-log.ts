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

/** Warnings that are remembered, so that each is shown once. The oldest are forgotten, and shown again. */
const warningsMax = 1_000;

/** Milliseconds from which a number is a time, not a duration: durations are shorter than three years. */
const timeMsMin = 100_000_000_000;

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

/**
 * A log for the user of a terminal, a line for each event: time, level, message, and fields as `name=value`. Milliseconds are shown as
 * people say them, records of the audit in words, and each warning once.
 */
export function createTerminalLogger({
  logLevel,
  write,
  toFields,
  now = () => new Date(wallClock.now()),
}: TerminalLoggerOptions): Logger {
  const warnings = new Set<string>();
  const log = (level: (typeof levels)[number]) => (message: string, fields?: LogFields) => {
    if (levels.indexOf(level) < levels.indexOf(logLevel)) return;
    const date = now();
    const [, time = ''] = /T([\d:]{8})/.exec(date.toISOString()) ?? [];
    const text = [`${level.padEnd(5)} ${message}`, ...formatFields(toFields(fields), date.getTime())].join(
      '  ',
    );
    if (level === 'WARN' && !isNew(text, warnings)) return;
    write(`${time} ${text}`);
  };
  return { debug: log('DEBUG'), info: log('INFO'), warn: log('WARN'), error: log('ERROR') };
}

function isNew(warning: string, known: Set<string>): boolean {
  if (known.has(warning)) return false;
  const [oldest] = known;
  if (known.size >= warningsMax && oldest !== undefined) known.delete(oldest);
  known.add(warning);
  return true;
}

function formatFields(fields: LogFields, nowMs: number): readonly string[] {
  return Object.entries(fields)
    .filter(([name, value]) => value !== undefined && !hiddenFields.has(name))
    .map(([name, value]) => {
      if (name === 'audit' && typeof value === 'object' && value !== null) return formatAudit({ ...value });
      const [, measured] = /^(.+)Ms$/.exec(name) ?? [];
      if (measured !== undefined && typeof value === 'number') return `${measured}=${formatMs(value, nowMs)}`;
      return `${name}=${formatValue(value)}`;
    });
}

/** `ada: deployManifest in prod, allowed` */
function formatAudit(record: { readonly [name: string]: unknown }): string {
  const { user, claimedUser, action, operations, account, accounts, location, name, outcome, reason } =
    record;
  const says = claimedUser === undefined ? 'nobody known' : `somebody who says to be ${claimedUser}`;
  const place = accounts ?? account;
  const words = [
    `${user ?? says}: ${operations ?? action}`,
    ...(name === undefined ? [] : [`of ${name}`]),
    ...(place === undefined ? [] : [`in ${place}`]),
    ...(location === undefined ? [] : [`at ${location}`]),
  ].join(' ');
  return clean(`${words}, ${outcome}${reason === undefined ? '' : `: ${reason}`}`);
}

/** `350ms`, `12s`, `5m`, `3h`, `2d`; a time as `12s ago` or `in 5m`. */
function formatMs(ms: number, nowMs: number): string {
  if (Math.abs(ms) < timeMsMin) return formatDuration(ms);
  return ms > nowMs ? `in ${formatDuration(ms - nowMs)}` : `${formatDuration(nowMs - ms)} ago`;
}

function formatDuration(ms: number): string {
  if (Math.abs(ms) < 1_000) return `${Math.round(ms)}ms`;
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'm'],
    [1_000, 's'],
  ] as const;
  const [size, unit] = units.find(([each]) => Math.abs(ms) >= 2 * each) ?? [1_000, 's'];
  return `${Math.round(ms / size)}${unit}`;
}

function formatValue(value: unknown): string {
  const text = clean(toText(value));
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

/** One line without control characters: a value from outside must not control the terminal. */
function clean(text: string): string {
  return stripVTControlCharacters(text.slice(0, valueLengthMax)).replaceAll(/\p{Cc}+/gu, ' ');
}

/** An error as its name and message: its stack is in a log that goes to a file or a pipe. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && 'stack' in value && 'message' in value) {
    return String(value.message);
  }
  return JSON.stringify(value) ?? String(value);
}
