import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { asJsonArray, asJsonObject, getPath, type JsonObject } from '#core/json.ts';
import { findLive, listNames } from '#test/shared/providers/kubernetes/live.ts';
import {
  findDockercfg,
  nameNamespace,
  toAuth,
} from '#test/shared/providers/kubernetes/v1/caching/registration-world.ts';
import {
  describeWithRegistry,
  registryPassword,
  registryUser,
  startRegistry,
  type TestRegistry,
} from '#test/support/artifacts/registry.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { type ClosableDoor, startClosableDoor } from '#test/support/network/closable-door.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const startTimeoutMs = 600_000;

describeWithRegistry('an account of the Kubernetes V1 provider, and a Docker registry,', () => {
  describeWithCluster('in one installation', (cluster) => {
    const shop = nameNamespace();
    const pay = nameNamespace();
    let door: ClosableDoor;
    let registry: TestRegistry;
    let system: System;

    beforeAll(async () => {
      registry = await startRegistry({ auth: { scheme: 'basic' } });
      const kubeconfig = await readFile(cluster.kubeconfig, 'utf8');
      const [address = '', port = ''] = /https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig) ?? [];
      door = await startClosableDoor(Number(port));
      const old = {
        name: 'old',
        providerVersion: 'v1',
        kubeconfigContents: kubeconfig.replace(address, `https://127.0.0.1:${door.port}`),
        namespaces: [shop.name, pay.name],
        dockerRegistries: [{ accountName: 'hub' }, { accountName: 'nobody', namespaces: [pay.name] }],
      };
      const hub = { name: 'hub', address: registry.url, username: registryUser, password: registryPassword };
      const settings = {
        kubernetes: { accounts: [old] },
        dockerRegistry: { enabled: true, accounts: [hub] },
      };
      system = await startSystem({ settings });
    }, startTimeoutMs);
    disposeAfterAll(() => [system, door, registry, shop, pay]);

    const getJson = async (path: string) => (await system.fetch(path)).json() as Promise<JsonObject>;
    const getHealth = () => getJson('/credentials/old/health');

    test('the pull secrets of its namespaces open the registry', async () => {
      for (const { name } of [shop, pay]) {
        await expect
          .poll(() => findDockercfg(name, 'hub'))
          .toEqual({ [registry.url]: { auth: toAuth(registryUser, registryPassword), email: '' } });
      }
      const config = await findDockercfg(shop.name, 'hub');
      const auth = getPath(asJsonObject(config)?.[registry.url], 'auth');
      const ask = async (headers: Record<string, string>) =>
        (await fetch(`${registry.url}/v2/`, { headers })).status;
      expect([await ask({}), await ask({ authorization: `Basic ${auth}` })]).toEqual([401, 200]);
    });

    test('every created pod is given the full list of image pull secrets of its namespace', async () => {
      for (const [{ name }, secrets] of [
        [shop, ['hub']],
        [pay, ['hub', 'nobody']],
      ] as const) {
        const containers = [{ name: 'web', imageDescription: { uri: 'registry.test/web:1' } }];
        const description = {
          account: 'old',
          application: 'kub',
          namespace: name,
          targetSize: 1,
          containers,
        };
        const id = await system.postOperations([{ createServerGroup: description }]);
        const task = await system.waitForTask(id);
        expect(task.resultObjects).toEqual([
          { serverGroupNames: [`${name}:kub-v000`], serverGroupNameByRegion: { [name]: 'kub-v000' } },
        ]);
        await expect.poll(() => listNames(name, 'pods')).toHaveLength(1);
        const [pod = ''] = await listNames(name, 'pods');
        const given = asJsonArray(getPath(await findLive(name, `pods/${pod}`), 'spec', 'imagePullSecrets'));
        expect(given).toEqual(secrets.map((secret) => ({ name: secret })));
      }
    });

    test('its health tells what is amiss, and whether its cluster can be reached', async () => {
      const warning =
        'the pull secret of registry account "nobody": there is no Docker registry account \'nobody\'';
      const details = { cloudProvider: 'kubernetes', warning };
      await expect.poll(getHealth).toMatchObject({ state: 'UP', details });
      await door.shut();
      // Of calls that were under way connections broke; nobody asks again until the agent is due.
      await expect.poll(getHealth, { timeout: 90_000 }).toMatchObject({
        state: 'DOWN',
        reason: expect.stringMatching(/^the connection (was refused|broke).*\(ECONN(REFUSED|RESET)\)$/),
        details,
      });
      await door.open();
      await expect.poll(getHealth, { timeout: 120_000 }).toMatchObject({ state: 'UP', details });
    });

    test('the agent that sees to all that is shown, without a password', async () => {
      const read = async () => (await system.fetch('/cache/introspection')).text();
      // The account may be reached before its agent has run again.
      await expect.poll(read, { timeout: 120_000 }).toContain('nobody');
      const text = await read();
      expect(text).toContain('old/KubernetesV1RegistrationAgent');
      for (const secret of [registryPassword, toAuth(registryUser, registryPassword)])
        expect(text).not.toContain(secret);
    });
  });
});
