import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { asJsonArray, asJsonObject, type JsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { configureDeployedSystem, getDeployment } from '#test/support/system/deployed-system.ts';
import type { Subject } from '#test/support/system/system.ts';

/** Each function that is called for the first time starts, and ten of them do so here. */
const timeout = 60_000;
const providers = '/v1/kubernetes/providers';

/** Sends a request; answers the status and what came back. */
async function send(
  system: Subject,
  ...[method, target, body]: readonly [method: string, target: string, body?: JsonObject]
) {
  const response = await system.fetch(target, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

async function listNames(system: Subject): Promise<readonly unknown[]> {
  const { body } = await send(system, 'GET', '/credentials');
  return asJsonArray(body).map((account) => asJsonObject(account)?.['name']);
}

describeWithCluster('accounts of the store', (cluster) => {
  it('are made by both APIs, used by all functions, and gone when they are deleted', async () => {
    await using namespace = await createNamespace('stored');
    await using dir = await makeTempDir();
    const config = join(dir.path, 'clouddriver.yml');
    const accounts = { writableWithoutFiat: true, allowPlainSecrets: true };
    await writeFile(
      config,
      JSON.stringify({ account: { storage: { enabled: true } }, busdriver: { accounts } }),
    );
    await using system = await configureDeployedSystem(getDeployment(), { config: [config] });
    const host = cluster.server;
    const caData = Buffer.from(await readFile(cluster.caFile)).toString('base64');
    const definition = {
      ...{ type: 'kubernetes', name: 'stored', namespaces: [namespace.name] },
      server: { host, caData, bearerToken: cluster.token },
    };

    expect(await send(system, 'POST', '/credentials', definition)).toMatchObject({ status: 200 });
    await expect.poll(() => listNames(system), { timeout }).toEqual(['stored']);
    expect(await send(system, 'POST', providers, { name: 'stored', host, caData })).toEqual({
      status: 409,
      body: { error: 'provider already exists' },
    });
    const provider = { name: 'provided', host, caData, bearerToken: cluster.token };
    expect(await send(system, 'POST', providers, provider)).toMatchObject({ status: 201 });
    await expect.poll(() => listNames(system), { timeout }).toEqual(['provided', 'stored']);

    for (const account of ['stored', 'provided']) {
      const id = await system.postOperations([toDeploy(account, namespace.name, [account])]);
      const task = await system.waitForTask(id, { timeoutMs: timeout });
      expect(task.status, JSON.stringify(task)).toMatchObject({ failed: false });
      const target = `/api/v1/namespaces/${namespace.name}/configmaps/${account}`;
      expect(await requestApi('GET', target)).toMatchObject({ data: { by: account } });
      const readHealth = async () =>
        (await send(system, 'GET', `/credentials/${account}/health`)).body?.state;
      await expect.poll(readHealth, { timeout }).toBe('UP');
    }

    expect(await send(system, 'DELETE', '/credentials/stored')).toMatchObject({ status: 200 });
    expect(await send(system, 'DELETE', `${providers}/provided`)).toMatchObject({ status: 204 });
    await expect.poll(() => listNames(system), { timeout }).toEqual([]);
    const history = await send(system, 'GET', '/credentials/stored/history');
    expect(asJsonArray(history.body)).toHaveLength(2);
    const told = [JSON.stringify(history), await system.readLog(), JSON.stringify(await system.readEvents())];
    expect(told.map((text) => text.includes(cluster.token))).toEqual([false, false, false]);
  }, 400_000);
});
