import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createNamespace, describeWithCluster, kubectl } from '../support/cluster.ts';
import { scanTasks } from '../support/stores.ts';
import { startSubject } from '../support/subject.ts';
import type { Subject } from '../support/system.ts';

const planted = 'planted-secret-0815';
const encoded = Buffer.from(planted).toString('base64');

describeWithCluster('secrets', (cluster) => {
  it('reach the cluster, and no task, event, log or stored item', async () => {
    await using namespace = await createNamespace('secrets');
    await using system = await startSubject({
      kubeconfig: cluster.kubeconfig,
      args: ['--log-level', 'DEBUG'],
    });
    const tell = { namespace: namespace.name, account: system.accounts[0] ?? '' };

    const tasks = await Promise.all([
      deploy(system, { ...tell, name: 'good', secret: { data: { key: encoded } } }),
      deploy(system, { ...tell, name: 'text', secret: { stringData: { key: planted } } }),
      // Refused by the API server, whose words may quote what it refuses.
      deploy(system, { ...tell, name: 'Bad_Name', secret: { data: { key: encoded } } }),
      deploy(system, {
        ...tell,
        name: 'bad-field',
        secret: { data: { key: encoded }, dada: { key: encoded } },
      }),
      deploy(system, { ...tell, name: 'not-base64', secret: { data: { key: `${planted}!` } } }),
      deploy(system, { ...tell, name: 'bad-type', secret: { data: planted } }),
    ]);
    const refused = await system.fetch('/kubernetes/ops', { method: 'POST', body: `[{"${planted}` });
    await system.idle();

    expect(tasks.map((task) => /"failed":true/.test(task))).toEqual([false, false, true, true, true, true]);
    const live = await kubectl([
      '-n',
      namespace.name,
      'get',
      'secrets',
      '-o',
      'jsonpath={.items[*].data.key}',
    ]);
    expect(live.split(' ').sort()).toEqual([encoded, encoded]);
    const events = await system.readEvents();
    const items = await scanTasks(system.stores);
    // Payloads are deleted once their task has ended; the tasks are there.
    expect(items).toContain('Bad_Name');
    const token = /token: (\S+)/.exec(await readFile(cluster.kubeconfig, 'utf8'))?.[1] ?? cluster.token;
    const places = {
      tasks: tasks.join('\n'),
      refusal: await refused.text(),
      events: JSON.stringify(events),
      log: await system.readLog(),
      items,
    };
    for (const [place, text] of Object.entries(places)) {
      expect([place, text.includes(planted), text.includes(encoded), text.includes(token)]).toEqual([
        place,
        false,
        false,
        false,
      ]);
    }
  });
});

/** Deploys a Secret and answers its finished task as text. */
async function deploy(
  system: Subject,
  { account, namespace, name, secret }: { account: string; namespace: string; name: string; secret: object },
): Promise<string> {
  const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, ...secret };
  const description = { account, moniker: { app: 'secrets' }, manifests: [manifest], versioned: false };
  const id = await system.postOperations([{ deployManifest: description }]);
  await system.waitForTask(id);
  return (await system.fetch(`/task/${id}`)).text();
}
