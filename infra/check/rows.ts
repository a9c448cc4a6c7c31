import type { AccountReader } from './account-reader.ts';
import { NotReadError } from './account-reader.ts';

/**
 * How something was found: as it must be; worth knowing; to be mended, or the deploy or what is deployed fails; or not looked at,
 * with the reason.
 */
export type State = 'ok' | 'note' | 'mend' | 'not checked';

/** What was found of one thing. */
export interface Finding {
  readonly state: State;
  /** What of the thing that was looked at, where there are several of them. */
  readonly about?: string;
  readonly found: string;
  /** What to do next; never empty for what is to be mended. */
  readonly next?: string;
}

/** A line of the report. */
export interface Row {
  /** The part of the report. */
  readonly matter: string;
  /** What was looked at. */
  readonly what: string;
  readonly state: State;
  readonly found: string;
  /** What to do next. */
  readonly next?: string;
}

/** One thing that is looked at. */
export interface Check {
  readonly matter: string;
  readonly what: string;
  run(reader: AccountReader): Promise<readonly Finding[]>;
}

/** The parts of a check. */
export interface CheckParts<Facts> {
  readonly matter: string;
  readonly what: string;
  /** Asks AWS. @throws NotReadError */
  gather(reader: AccountReader): Promise<Facts>;
  /** Judges what was asked, and asks nothing. */
  judge(facts: Facts): readonly Finding[];
}

/** A check whose facts nobody else sees. */
export function defineCheck<Facts>({ matter, what, gather, judge }: CheckParts<Facts>): Check {
  return { matter, what, run: async (reader) => judge(await gather(reader)) };
}

/** A check that needs nobody to be asked. */
export function defineKnown(matter: string, what: string, findings: readonly Finding[]): Check {
  return { matter, what, run: async () => findings };
}

/**
 * Runs checks, all at once: the reader bounds the calls.
 *
 * @returns their rows in the order of the checks; what could not be looked at has a row that says so
 */
export async function runChecks(checks: readonly Check[], reader: AccountReader): Promise<Row[]> {
  const rows = await Promise.all(checks.map((check) => runCheck(check, reader)));
  return rows.flat();
}

async function runCheck(check: Check, reader: AccountReader): Promise<Row[]> {
  const { matter, what } = check;
  const findings = await check.run(reader).catch((error: unknown) => [toUnchecked(error)]);
  return findings.map(({ about, ...finding }) => ({
    matter,
    what: about === undefined ? what : `${what} ${about}`,
    ...finding,
  }));
}

/** The row of what could not be looked at. @throws what is a defect of ours */
function toUnchecked(error: unknown): Finding {
  if (!(error instanceof NotReadError)) throw error;
  const { message: found, refusedAction } = error;
  if (refusedAction === undefined) return { state: 'not checked', found };
  return {
    state: 'not checked',
    found,
    next: `allow ${refusedAction} to whoever runs this, or look yourself`,
  };
}

/** As it must be. */
export function ok(found: string): Finding {
  return { state: 'ok', found };
}

/** Worth knowing. */
export function note(found: string, next?: string): Finding {
  return { state: 'note', found, ...(next !== undefined && { next }) };
}

/** To be mended. */
export function mend(found: string, next: string): Finding {
  return { state: 'mend', found, next };
}

/** Not looked at. */
export function unchecked(found: string, next?: string): Finding {
  return { state: 'not checked', found, ...(next !== undefined && { next }) };
}

/** Of one of several things. */
export function about(name: string, finding: Finding): Finding {
  return { ...finding, about: name };
}
