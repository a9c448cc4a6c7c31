import { Worker } from 'node:worker_threads';
import { beforeAll, expect, it } from 'vitest';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import type { OverloadData, OverloadReport } from '#test/support/network/overload-sender.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { readMemoryMiB } from '#test/support/system/process-memory.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const operations = chooseSize({ short: 400, long: 2_000 });
const pollers = chooseSize({ short: 80, long: 200 });

/** Milliseconds that no request may wait longer. */
const waitMax = 5_000;

/** MiB by which the process may have grown, and milliseconds in which memory is given back. */
const keptMax = 100;
const givenBackMs = 60_000;

describeWithCluster(`${operations} operations posted at once, with ${pollers} pollers`, (cluster) => {
  let namespace: TestNamespace;
  let system: System;
  let idleMiB: number;
  let report: OverloadReport;

  beforeAll(async () => {
    namespace = await createNamespace('overload');
    system = await startSystem({ kubeconfig: cluster.kubeconfig });
    // A process at work is larger than one that has just started.
    for (let index = 0; index < 20; index += 1) {
      await system.waitForTask(await system.postOperations([makeDeploy(index)]));
    }
    idleMiB = await readMemoryMiB(system.pid);
    report = await overload();
  }, 300_000);

  disposeAfterAll(() => [system, namespace]);

  it('completes them all', () => {
    expect(report.completed).toBe(operations);
    expect(report.failed).toEqual([]);
  });

  it('lets no request wait long', () => {
    const slow = report.answers.filter(({ waitedMs }) => waitedMs >= waitMax);
    expect(slow.slice(0, 5), `${slow.length} of ${report.answers.length} requests waited`).toEqual([]);
  });

  it('says when to try again what it refuses', () => {
    const refused = report.answers.filter(({ status }) => status === 503);
    // None, where the machine is quick enough.
    expect(refused.filter(({ retryAfter }) => !/^\d+$/.test(retryAfter ?? ''))).toEqual([]);
  });

  it('serves those who poll all the while', () => {
    const polls = report.answers.filter(({ method }) => method === 'GET');
    const refused = polls.filter(({ status }) => status !== 200);
    // A moment in which the machine does something else refuses all who wait.
    expect(refused.length).toBeLessThanOrEqual(polls.length * 0.05);
  });

  it('gives memory back', { timeout: 2 * givenBackMs }, async () => {
    await expect
      .poll(() => readMemoryMiB(system.pid), { timeout: givenBackMs, interval: 1_000 })
      .toBeLessThan(idleMiB + keptMax);
  });

  /** Sends all, and waits until each task is completed. */
  function overload(): Promise<OverloadReport> {
    const bodies = Array.from({ length: operations }, (_, index) => JSON.stringify([makeDeploy(index)]));
    const workerData: OverloadData = { url: system.url, bodies, pollers };
    const sender = new Worker(new URL('../../support/network/overload-sender.ts', import.meta.url), {
      workerData,
    });
    return new Promise((resolve, reject) => {
      sender.once('message', resolve).once('error', reject);
    });
  }

  function makeDeploy(index: number): object {
    return toDeploy(system.accounts[0] ?? '', namespace.name, [`settings-${index}`]);
  }
});
