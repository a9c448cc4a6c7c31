import { setTimeout as sleep } from 'node:timers/promises';
import { NotFoundError } from '#core/errors.ts';

/** An act of the job of tests. */
export interface SampleQuery {
  readonly act: 'echo' | 'spin' | 'fill' | 'miss' | 'break' | 'wait' | 'leave' | 'list environment';
  readonly ms?: number;
}

/** @see JobModule */
export const location = import.meta.url;

/** Does what it is asked for. */
export async function run({ act, ms = 0 }: SampleQuery): Promise<unknown> {
  if (act === 'spin') for (;;);
  if (act === 'fill') for (const held: string[] = []; ; ) held.push(`${held.length}`.repeat(1_000));
  if (act === 'miss') throw new NotFoundError('it is not there');
  if (act === 'break') throw new TypeError('planted');
  if (act === 'leave') process.exit(3);
  if (act === 'list environment') return Object.keys(process.env);
  await sleep(ms);
  return act;
}
