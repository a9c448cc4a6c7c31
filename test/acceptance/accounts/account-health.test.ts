import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asJsonArray, asJsonObject, type JsonObject } from '#core/json.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { type ClosableDoor, startClosableDoor } from '#test/support/network/closable-door.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const planted = 'planted-token-health-77';

describeWithCluster('the health of an account', (cluster) => {
  const stack = new AsyncDisposableStack();
  let door: ClosableDoor;
  let system: System;

  beforeAll(async () => {
    const kubeconfig = await readFile(cluster.kubeconfig, 'utf8');
    const [address = '', port = ''] = /https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig) ?? [];
    door = stack.use(await startClosableDoor(Number(port)));
    const behind = kubeconfig.replace(address, `https://127.0.0.1:${door.port}`);
    const accounts = [
      { name: 'near', kubeconfigFile: cluster.kubeconfig },
      { name: 'behind', kubeconfigContents: behind },
      { name: 'wrong', kubeconfigFile: cluster.kubeconfig, user: 'nobody' },
      { name: 'strange', server: { host: 'http://127.0.0.1:1', bearerToken: planted } },
    ];
    system = stack.use(await startSystem({ settings: { kubernetes: { accounts } } }));
  });

  afterAll(() => stack.disposeAsync());

  async function getHealth(account: string): Promise<JsonObject> {
    const response = await system.fetch(`/credentials/${account}/health`);
    expect([account, response.status]).toEqual([account, 200]);
    return (await response.json()) as JsonObject;
  }

  async function getExpanded(account: string): Promise<unknown> {
    const list = asJsonArray(await (await system.fetch('/credentials?expand=true')).json());
    return list.map((each) => asJsonObject(each)).find((each) => each?.['name'] === account)?.['health'];
  }

  it('is UP once somebody called its cluster, and shown with expanded credentials', async () => {
    const before = Date.now();
    await expect
      .poll(() => getHealth('behind'))
      .toMatchObject({
        account: 'behind',
        state: 'UP',
        breaker: 'closed',
        details: { cloudProvider: 'kubernetes' },
      });
    const { since, checkedAt, lastSuccess } = await getHealth('behind');
    for (const time of [since, checkedAt, lastSuccess]) {
      expect(Math.abs(Number(time) - before)).toBeLessThan(120_000);
    }
    await expect.poll(() => getExpanded('behind')).toEqual({ state: 'UP' });
    const one = (await (await system.fetch('/credentials/behind')).json()) as JsonObject;
    expect(one['health']).toEqual({ state: 'UP' });
    const short = (await (await system.fetch('/credentials')).json()) as JsonObject[];
    expect(short.filter((account) => 'health' in account)).toEqual([]);
  });

  it('is REJECTED with the reason where settings are wrong, and 404 where nobody knows the account', async () => {
    expect(await getHealth('wrong')).toEqual({
      account: 'wrong',
      state: 'REJECTED',
      reason: expect.stringContaining('kubernetes.accounts[2].user'),
      breaker: 'closed',
      details: {},
    });
    expect((await system.fetch('/credentials/nobody/health')).status).toBe(404);
  });

  it('is DOWN while its cluster is away: reads are answered 503 at once, until it is back', async () => {
    await door.shut();
    const read = () => system.fetch('/manifests/behind/default/configMap%20none');
    await expect.poll(async () => (await read()).status).toBe(503);
    const startMs = performance.now();
    const responses = await Promise.all(Array.from({ length: 20 }, read));
    expect(performance.now() - startMs).toBeLessThan(5_000);
    for (const response of responses) {
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(((await response.json()) as JsonObject)['message']).toMatch(
        /^Failed to read manifest: .*behind.*the connection was refused.*it is left alone since \d{4}-/,
      );
    }
    expect(await getHealth('behind')).toMatchObject({
      state: 'DOWN',
      breaker: 'open',
      reason: 'the connection was refused; is the API server up, and is this its address? (ECONNREFUSED)',
    });
    expect((await getHealth('near'))['state']).toBe('UP');

    await door.open();
    await expect.poll(async () => (await read()).status).toBe(404);
    await expect.poll(() => getHealth('behind')).toMatchObject({ state: 'UP', breaker: 'closed' });
    expect(await getHealth('behind')).not.toHaveProperty('reason');
  });

  it('tells neither secrets nor addresses', async () => {
    await expect.poll(() => getHealth('strange')).not.toMatchObject({ state: 'UNKNOWN' });
    const text = JSON.stringify(await getHealth('strange'));
    expect(text).toContain('the connection was refused');
    expect(text).not.toContain(planted);
    expect(text).not.toContain('127.0.0.1');
  });
});
