import { NotReadError } from './account-calls.ts';

/**
 * How something was found: as it must be; worth knowing; to be mended, or the deploy or what is deployed fails; or not looked at,
 * with the reason.
 */
export type State = 'ok' | 'note' | 'mend' | 'not checked';

/** What was found of one thing. */
export interface Finding {
  readonly state: State;
  /** Of which of several things, behind what was looked at. */
  readonly about?: string;
  readonly found: string;
  /** What to do next; never empty for what is to be mended. */
  readonly next?: string;
}

/** A line of the report. */
export interface Row extends Omit<Finding, 'about'> {
  /** The part of the report. */
  readonly matter: string;
  /** What was looked at. */
  readonly what: string;
}

/** One thing that is looked at. */
export interface Check {
  readonly what: string;
  /** Asks AWS, and judges what it says. @throws NotReadError */
  find(): Promise<Finding | readonly Finding[]>;
}

/** Runs a check. @returns its rows, or one that says why it could not be looked at */
export async function runCheck(matter: string, { what, find }: Check): Promise<Row[]> {
  const findings = await find().catch(toUnchecked);
  return [findings].flat().map(({ about, ...finding }) => ({
    matter,
    what: about === undefined ? what : `${what} ${about}`,
    ...finding,
  }));
}

/** The row of what could not be looked at. @throws what is a defect of ours */
function toUnchecked(error: unknown): Finding {
  if (!(error instanceof NotReadError)) throw error;
  const { message, refusedAction } = error;
  if (refusedAction === undefined) return unchecked(message);
  return unchecked(message, `allow ${refusedAction} to whoever runs this, or look yourself`);
}

/** As it must be. */
export function ok(found: string): Finding {
  return { state: 'ok', found };
}

/** Worth knowing. */
export function note(found: string, next: string): Finding {
  return { state: 'note', found, next };
}

/** To be mended. */
export function mend(found: string, next: string): Finding {
  return { state: 'mend', found, next };
}

/** Not looked at. */
export function unchecked(found: string, next?: string): Finding {
  return { state: 'not checked', found, ...(next !== undefined && { next }) };
}

/** A check of what has an ARN, which must be of the region of the stacks. */
export function inRegion(region: string, arn: string, check: Check): Check {
  const other = arn.split(':')[3];
  if (other === region) return check;
  const found = `${arn} is in ${other}, and the stacks go to ${region}`;
  return { ...check, find: async () => mend(found, `take one of ${region}`) };
}
