import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import type { SenderData, SenderReport } from '#test/support/network/flood-sender.ts';
import { FloodBench, givenBackMs, growthMax, waitMax } from './flood-bench.ts';
import { type HostileRequest, hostileRequests } from './flood-data.ts';

describeWithCluster('while somebody means harm', (cluster) => {
  let bench: FloodBench;
  beforeAll(async () => {
    bench = await FloodBench.start({ cluster });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  for (const hostile of hostileRequests) {
    it(`nobody else waits, by ${hostile.title}`, async () => {
      const innocent = bench.watchInnocent();
      const growth = bench.watchGrowth();
      const report = await send(hostile);
      const waits = await innocent.stop();
      const grownMiB = await growth.stop();

      expect(waits.length, 'innocent requests').toBeGreaterThan(2);
      expect(Math.max(...waits.map(({ ms }) => ms)), JSON.stringify(waits.slice(0, 50))).toBeLessThan(
        waitMax,
      );
      expect(grownMiB).toBeLessThan(growthMax);
      for (const answer of report.answers) expectAnswer(answer, hostile);
      if (!hostile.isHeld) expect(report.answers.length, 'answers').toBeGreaterThan(0);
    });
  }

  it('memory is given back', { timeout: 2 * givenBackMs }, () => bench.expectMemoryBack());

  function send(hostile: HostileRequest): Promise<SenderReport> {
    const workerData: SenderData = { url: bench.system.url, title: hostile.title };
    const sender = new Worker(new URL('../../support/network/flood-sender.ts', import.meta.url), {
      workerData,
    });
    return new Promise((resolve, reject) => {
      sender.once('message', resolve).once('error', reject);
    });
  }
});

function expectAnswer(
  { status, retryAfter, body }: SenderReport['answers'][number],
  hostile: HostileRequest,
): void {
  expect(hostile.statuses.includes(status) || status === 503, `${status} ${body}`).toBe(true);
  if (status === 503) expect(retryAfter, body).toMatch(/^\d+$/);
}
