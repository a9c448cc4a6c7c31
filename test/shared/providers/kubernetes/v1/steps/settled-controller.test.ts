import { expect, test } from 'vitest';
import { waitUntilSettled } from '#providers/kubernetes/v1/steps/settled-controller.ts';
import { OperationJournal, TaskJournal } from '#tasks/task-journal.ts';

const { signal } = new AbortController();
const journal = new TaskJournal({ committed: [], prefix: '', commit: async () => undefined });
const run = new OperationJournal(journal, { index: 0, phase: '', signal });

/** A ReplicationController that was changed twice, of which it has seen so many changes. */
function createChanged(observedGeneration: number) {
  const metadata = { name: 'kub-v000', generation: 2 };
  return { apiVersion: 'v1', kind: 'ReplicationController', metadata, status: { observedGeneration } };
}

/** A clock whose sleeps are over at once, however long they are. */
function createSleepless() {
  let ms = 0;
  return {
    now: () => ms,
    monotonic: () => ms,
    async sleep(pauseMs: number) {
      ms += pauseMs;
    },
  };
}

test('a controller is settled once it has seen its latest change', async () => {
  const looks = [1, 1, 2].map(createChanged).values();
  const clock = createSleepless();
  const settled = await waitUntilSettled(async () => looks.next().value ?? createChanged(0), {
    clock,
    run,
  });
  expect(settled).toEqual({ live: createChanged(2), isSettled: true });
});

test('one that sees nothing for half a minute is taken as it is', async () => {
  const clock = createSleepless();
  const settled = await waitUntilSettled(async () => createChanged(1), { clock, run });
  expect(settled).toEqual({ live: createChanged(1), isSettled: false });
  expect(clock.now()).toBeGreaterThanOrEqual(30_000);
});
