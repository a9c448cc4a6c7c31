import { beforeEach, describe, expect, it } from 'vitest';
import { CallPace, callBurst, callPaceMs, callTurnMsMax } from '#platform/aws/lookups/call-pace.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { ServiceBusyError } from '#platform/ports/lookup.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();

let nowMs: number;
let waited: number[];
let kind: string;

beforeEach(() => {
  nowMs = Date.now();
  waited = [];
  kind = testRandomness.id();
});

/** Takes turns as that many processes do. @returns how many got none. */
async function takeTurns(count: number): Promise<number> {
  const { tableName, openDocuments } = openTable(cacheTable);
  const clock = { now: () => nowMs, sleep: async (ms: number) => void waited.push(ms) };
  const turns = Array.from({ length: count }, () =>
    new CallPace({ table: new ItemTable(openDocuments(), tableName), clock }).takeTurn('EKS', kind, 'own'),
  );
  const results = await Promise.allSettled(turns);
  const failures = results.filter(({ status }) => status === 'rejected');
  for (const { reason } of failures as PromiseRejectedResult[])
    expect(reason).toBeInstanceOf(ServiceBusyError);
  return failures.length;
}

describe('turns of calls', () => {
  it('are given to some processes at once, then to five a second', async () => {
    await takeTurns(25);
    const later = waited.filter((ms) => ms > 0).sort((one, other) => one - other);
    expect(later).toEqual(Array.from({ length: 25 - callBurst - 1 }, (_, index) => (index + 1) * callPaceMs));
  });

  it('are given to nobody who would wait for more than four seconds', async () => {
    const refused = await takeTurns(60);
    expect(60 - refused).toBe(callBurst + 1 + callTurnMsMax / callPaceMs);
    expect(Math.max(...waited)).toBe(callTurnMsMax);
    nowMs += 60_000;
    expect(await takeTurns(5)).toBe(0);
    expect(waited.slice(-5)).toEqual([0, 0, 0, 0, 0]);
  });

  it('are given though a process with a wrong clock took one of tomorrow', async () => {
    nowMs += 24 * 3_600_000;
    await takeTurns(1);
    nowMs -= 24 * 3_600_000;
    expect(await takeTurns(3)).toBe(0);
  });

  it('are given to everybody while the store is away', async () => {
    const { openDocuments } = openTable(cacheTable);
    const table = new ItemTable(openDocuments(), 'no-such-table');
    const pace = new CallPace({ table, clock: { now: () => nowMs, sleep: async () => undefined } });
    await expect(pace.takeTurn('EKS', kind)).resolves.toBeUndefined();
  });
});
