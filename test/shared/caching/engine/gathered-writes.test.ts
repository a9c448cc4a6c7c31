import { expect, it } from 'vitest';
import { GatheredWrites } from '#caching/engine/gathered-writes.ts';
import { toRevision } from '#caching/store/revision.ts';
import type { ObjectChange } from '#caching/writer/object-change.ts';
import { systemClock } from '#platform/services/system.ts';

function change(name: string, resourceVersion: number): ObjectChange {
  const revision = toRevision(1, String(resourceVersion));
  return { kind: 'pod', location: 'shop', name, revision, seenAt: revision, facts: undefined };
}

function gather(most = 500) {
  const written: string[][] = [];
  const failures: Error[] = [];
  const writes = new GatheredWrites({
    clock: systemClock,
    getDelayMs: () => 20,
    most,
    async write(changes) {
      written.push(changes.map(({ name, revision }) => `${name}@${Number(revision.slice(11))}`));
      await systemClock.sleep(5);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    },
  });
  return { writes, written, failures };
}

it('changes that come together are written together', async () => {
  const { writes, written } = gather();
  await Promise.all([
    writes.write([change('a', 3), change('b', 1)]),
    writes.write([change('a', 2)]),
    writes.write([change('c', 4)]),
  ]);
  expect(written).toEqual([['a@3', 'b@1', 'a@2', 'c@4']]);
});

it('what comes while others are written waits for these, and is written in one go', async () => {
  const { writes, written } = gather(1);
  const first = writes.write([change('a', 1)]);
  await systemClock.sleep(2);
  const later = [writes.write([change('a', 2)]), writes.write([change('b', 3)])];
  await first;
  expect(written[0]).toEqual(['a@1']);
  await Promise.all(later);
  expect(written.slice(1)).toEqual([['a@2', 'b@3']]);
});

it('a failure is that of those who waited for it, and nobody else’s', async () => {
  const { writes, written, failures } = gather();
  failures.push(new Error('the store is away'));
  const outcomes = await Promise.allSettled([writes.write([change('a', 1)]), writes.write([change('b', 2)])]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await writes.write([change('a', 1)]);
  expect(written).toEqual([['a@1', 'b@2'], ['a@1']]);
});
