import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { listOpenRows } from '#test/support/engines/open-rows.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { type SystemTask, startSystem } from '#test/support/system/system.ts';
import { type Deploy, expectEachOnce, postDeploy } from '../agents/drills/deploys.ts';

const kills = chooseSize({ short: 3, long: 20 });
const tasksPerRound = 10;

describeWithCluster('kill -9 of the whole process at random moments', (cluster) => {
  itLocally('there is no one process: see test/deploy')(
    `loses none of ${kills * tasksPerRound} operations`,
    async () => {
      await using namespace = await createNamespace('crash');
      // Slow calls keep operations in flight when the process dies.
      await using proxy = await startApiProxy(cluster, { getDelayMs: () => randomInt(20, 200) });
      await using system = await startSystem({ kubeconfig: proxy.kubeconfig });
      const deploy = (name: string) =>
        postDeploy(system, { account: 'test', namespace: namespace.name, name });
      const reference = await deploy('reference');
      const undisturbed = await system.waitForTask(reference.taskId, { timeoutMs: 60_000 });
      expect(undisturbed.status.failed).toBe(false);
      const deploys: Deploy[] = [];

      for (let round = 0; round < kills; round += 1) {
        const names = Array.from({ length: tasksPerRound }, (_, index) => `crash-${round}-${index}`);
        const posting = Promise.all(names.map(deploy));
        await sleep(randomInt(5, 900));
        await system.kill('SIGKILL');
        await system.restart();
        deploys.push(...(await posting));
      }
      const tasks = await Promise.all(
        deploys.map(({ taskId }) => system.waitForTask(taskId, { timeoutMs: 120_000 })),
      );

      expect(tasks.filter(({ status }) => status.failed)).toEqual([]);
      expect(new Set(deploys.map(({ taskId }) => taskId)).size).toBe(deploys.length);
      for (const [index, task] of tasks.entries()) {
        expect(toLines(task, deploys[index]?.name ?? '')).toEqual(toLines(undisturbed, reference.name));
        expect(task.resultObjects).toHaveLength(1);
      }
      await expectEachOnce([reference, ...deploys], proxy.calls);
      await system.idle();
      expect(await (await system.fetch('/task')).json()).toEqual([]);
      // Who was killed between the row and the header of a task leaves the row, which the next sweep removes.
      await expect.poll(() => listOpenRows(system.stores), { timeout: 90_000, interval: 500 }).toEqual([]);
    },
    600_000,
  );
});

/**
 * A worker that died right after its call leaves an object that the next one truly finds unchanged; a Secret is then configured, as with
 * kubectl, for no answer has its `stringData`.
 */
function toLines({ history }: SystemTask, name: string): string[] {
  return history.map(({ phase, status }) => {
    const line = status.replaceAll(name, 'NAME').replace(/: (created|unchanged|configured)$/, ': applied');
    return `${phase} ${line}`;
  });
}
