import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Clock } from '#core/clock.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { tasksTable } from '#platform/aws/tables.ts';
import { systemRandomness } from '#platform/services/system.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createRandom } from '#test/support/run/seeded-random.ts';
import { createTestClock, type TestClock } from '#test/support/run/test-clock.ts';
import { type Side, settingsSpreadMs } from '#upstream/account-owner.ts';
import { createOwnerStore } from '#upstream/aws/owner-store.ts';
import { type Entry, Ownership, type OwnershipRequest } from '#upstream/services/ownership.ts';

const openLocal = useLocalTables();

/** A process with settings of its own, over the same table as all others. */
function startProcess(
  clock: Clock = createTestClock(),
  settings: { wanted: Side } = { wanted: 'ours' },
  pause = async () => {},
) {
  const { openDocuments, tableName } = openLocal(tasksTable);
  const table = new ItemTable(openDocuments(), tableName);
  const tasks = new DynamoTaskStore({ table, clock, randomness: systemRandomness });
  const store = createOwnerStore({ table, clock });
  const note: typeof store.note = (...operations) => pause().then(() => store.note(...operations));
  const ownership = new Ownership({
    ...{ store: { ...store, note }, tasks, clock, randomness: systemRandomness },
  });
  return {
    ...{ settings, tasks },
    enter: (account: string, request: Partial<OwnershipRequest> = {}): Promise<Entry> =>
      ownership.enter({
        ...{ accounts: [account], requestId: '', waitMs: 0, signal: new AbortController().signal },
        ...{ findWanted: () => settings.wanted, isKnown: () => true, hasEnded: async () => false },
        ...request,
      }),
  };
}

const changing = (account: string) =>
  `Account '${account}' is changing between Busdriver and the Clouddriver`;

describe('the owner of an account', () => {
  it('keeps it until its tasks have ended, and takes no new operations meanwhile', async () => {
    const process = startProcess(createTestClock(), { wanted: 'theirs' });
    const begun = await process.enter('leaving');
    expect(begun.findOwner('leaving')).toBe('theirs');
    process.settings.wanted = 'ours';
    // Its answer may have been lost.
    await expect(process.enter('leaving')).rejects.toThrow(changing('leaving'));
    await begun.noteTask('t1');
    await expect(process.enter('leaving')).rejects.toThrow(changing('leaving'));
    const asked: string[] = [];
    const hasEnded = async (id: string) => asked.push(id) > 1;
    const after = await process.enter('leaving', { hasEnded, waitMs: 60_000 });
    expect([after.findOwner('leaving'), asked]).toEqual(['ours', ['t1', 't1']]);
  });

  it('keeps it while tasks here are open', async () => {
    const process = startProcess();
    const entry = await process.enter('ours');
    const { task } = await process.tasks.accept({
      ...{ id: systemRandomness.id(), requestId: '', account: 'other', accounts: ['other', 'ours'] },
      ...{ isRestricted: false, caller: {}, operations: [], entry: { key: 'accept', lines: [] } },
    });
    await entry.leave();
    process.settings.wanted = 'theirs';
    await expect(process.enter('ours')).rejects.toThrow(changing('ours'));
    await process.tasks.fail(task.id, 'FAILED', { key: 'end', lines: [] });
    expect((await process.enter('ours')).findOwner('ours')).toBe('theirs');
  });

  it('loses it within the hour where it never said what became of its operations', async () => {
    const clock = createTestClock();
    const process = startProcess(clock, { wanted: 'theirs' });
    await process.enter('lost');
    process.settings.wanted = 'ours';
    await expect(process.enter('lost')).rejects.toThrow(changing('lost'));
    clock.advance(3_601_000);
    expect((await process.enter('lost')).findOwner('lost')).toBe('ours');
  });

  it('is that of the newest settings, whatever a process with older ones is asked', async () => {
    const clock: TestClock = createTestClock();
    const [late, early] = [startProcess(clock), startProcess(clock)];
    await (await late.enter('moved')).leave();
    await (await early.enter('moved')).leave();
    early.settings.wanted = 'theirs';
    await (await early.enter('moved')).leave();
    const followed = await late.enter('moved');
    expect(followed.findOwner('moved')).toBe('theirs');
    await followed.leave();
    // By now it would know other settings, if there were any.
    clock.advance(settingsSpreadMs + 61_000);
    expect((await late.enter('moved')).findOwner('moved')).toBe('ours');
  });

  it('runs nothing that its process does not know yet', async () => {
    const process = startProcess();
    await expect(process.enter('unknown', { isKnown: () => false })).rejects.toThrow(changing('unknown'));
  });

  it('is refused for a name that no account has', async () => {
    const expected = 'account: expected at most 253 characters, not 254';
    await expect(startProcess().enter('x'.repeat(254))).rejects.toThrow(expected);
  });

  it('is never both, however processes and settings race', async () => {
    const random = createRandom(35);
    const ended = new Set<string>();
    const running: { [side in Side]: number } = { ours: 0, theirs: 0 };
    const overlaps: number[] = [];
    const request = { waitMs: 60_000, hasEnded: async (id: string) => ended.has(id) };
    const runs = Array.from({ length: 4 }, async (_, index) => {
      const pause = () => sleep(random() * 400);
      const process = startProcess(createTestClock(), { wanted: 'ours' }, pause);
      for (let run = 0; run < 6; run += 1) {
        process.settings.wanted = random() < 0.5 ? 'ours' : 'theirs';
        const entry = await process.enter('raced', request);
        const side = entry.findOwner('raced');
        running[side] += 1;
        overlaps.push(Math.min(running.ours, running.theirs));
        const id = `${index}-${run}`;
        await sleep(random() * 100);
        if (side === 'theirs') await entry.noteTask(id);
        running[side] -= 1;
        ended.add(id);
        if (side === 'ours') await entry.leave();
      }
    });
    await Promise.all(runs);
    expect([overlaps.length, Math.max(...overlaps)]).toEqual([24, 0]);
  }, 60_000);
});
