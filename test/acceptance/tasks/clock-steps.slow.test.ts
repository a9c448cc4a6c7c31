import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
} from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

/** Preloaded: the wall clock of the process can be set. */
const clockOffset = path.resolve(import.meta.dirname, '../../lab/clock-offset.ts');

const hourMs = 3_600_000;

describeWithCluster('npm start on a machine whose clock is set', (cluster) => {
  itLocally('nobody sets the clock of Lambda')(
    'goes on with what it waits for, caches turn by turn, and takes over from a process that was an hour ahead',
    async () => {
      await using namespace = await createNamespace('clock');
      await using dir = await makeTempDir();
      const clockFile = path.join(dir.path, 'offset');
      await writeFile(clockFile, '0');
      const place = { kubeconfigFile: cluster.kubeconfig, namespaces: [namespace.name] };
      const account = { name: 'test', ...place, cacheMode: 'interval', cacheIntervalSeconds: 10 };
      await using system = await startSystem({
        settings: { kubernetes: { enabled: true, accounts: [account] } },
        env: { LAB_CLOCK_FILE: clockFile },
        preload: [clockOffset],
      });
      const first = await deleteHeld(system, namespace.name, 'first');
      for (const [index, offsetMs] of [hourMs, 0, -hourMs, 0].entries()) {
        await setClock(system, clockFile, offsetMs);
        await untilCached(system, namespace.name, `step-${index}`);
      }
      await release(namespace.name, 'first');
      expect((await system.waitForTask(first)).status).toMatchObject({ completed: true, failed: false });

      await setClock(system, clockFile, hourMs);
      await system.restart();
      await untilCached(system, namespace.name, 'ahead');
      const second = await deleteHeld(system, namespace.name, 'second');
      await system.kill('SIGKILL');
      await writeFile(clockFile, '0');
      await system.restart();
      await release(namespace.name, 'second');
      expect((await system.waitForTask(second)).status).toMatchObject({ completed: true, failed: false });
      await untilCached(system, namespace.name, 'back');
    },
    600_000,
  );
});

/** Sets the wall clock of the process, and waits until it is. */
async function setClock(system: System, file: string, offsetMs: number): Promise<void> {
  const before = system.stderr.length;
  await writeFile(file, String(offsetMs));
  process.kill(system.pid, 'SIGUSR2');
  await expect.poll(() => system.stderr.slice(before)).toContain(`off by ${offsetMs} ms`);
}

function toConfigMap(namespace: string, name = ''): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

/** Has an object deleted that a finalizer holds, and waits until the cluster was asked to. @returns the task's id */
async function deleteHeld(system: System, location: string, name: string): Promise<string> {
  const metadata = { name, finalizers: ['busdriver.test/held'] };
  await requestApi('POST', toConfigMap(location), { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  const description = { account: 'test', manifestName: `configMap ${name}`, location };
  const id = await system.postOperations([{ deleteManifest: description }]);
  await expect
    .poll(() => findObject(toConfigMap(location, name)))
    .toHaveProperty('metadata.deletionTimestamp');
  return id;
}

async function release(namespace: string, name: string): Promise<void> {
  await requestApi('PATCH', toConfigMap(namespace, name), { metadata: { finalizers: null } });
}

/** Makes an object in the cluster, and waits until the cache has it. */
async function untilCached(system: System, namespace: string, name: string): Promise<void> {
  const annotations = { 'moniker.spinnaker.io/application': `clock-${name}` };
  const spec = { selector: { app: name }, ports: [{ port: 80 }] };
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name, annotations }, spec };
  await requestApi('POST', `/api/v1/namespaces/${namespace}/services`, service);
  const read = async (): Promise<unknown> =>
    (await system.fetch(`/applications/clock-${name}/loadBalancers`)).json();
  // A turn that fails on a busy machine is followed by one a minute later; an account that is never cached again takes an hour.
  await expect.poll(read, { interval: 200, timeout: 150_000 }).toMatchObject([{ name: `service ${name}` }]);
}
