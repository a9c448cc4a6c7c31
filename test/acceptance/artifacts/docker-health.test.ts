import { afterAll, beforeAll, expect, test } from 'vitest';
import { asJsonArray, asJsonObject, type JsonObject } from '#core/json.ts';
import {
  describeWithRegistry,
  pushImage,
  registryPassword,
  registryUser,
  startRegistry,
  type TestRegistry,
} from '#test/support/artifacts/registry.ts';
import { type ClosableDoor, startClosableDoor } from '#test/support/network/closable-door.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

/** A machine that is busy runs agents late. */
const timeout = 90_000;

describeWithRegistry('the health of a Docker registry account', () => {
  const stack = new AsyncDisposableStack();
  let open: TestRegistry;
  let registry: TestRegistry;
  let door: ClosableDoor;
  let system: System;

  beforeAll(async () => {
    open = stack.use(await startRegistry());
    registry = stack.use(await startRegistry({ auth: { scheme: 'basic' }, storage: open.storage }));
    await pushImage(open.url, { repository: 'shop/cart', tags: ['1'] });
    door = stack.use(await startClosableDoor(Number(new URL(registry.url).port)));
    const account = { username: registryUser, password: registryPassword, cacheIntervalSeconds: 1 };
    const behind = { ...account, address: `http://127.0.0.1:${door.port}` };
    const accounts = [
      { ...behind, name: 'behind' },
      // Of those that name repositories none may be asked for by itself before the tags are.
      { ...behind, name: 'listed', repositories: ['shop/cart'] },
      { ...account, name: 'refused', address: registry.url, password: 'planted-other' },
    ];
    const settings = { kubernetes: { enabled: false }, dockerRegistry: { enabled: true, accounts } };
    system = stack.use(await startSystem({ settings }));
  }, 600_000);
  afterAll(() => stack.disposeAsync());

  async function getHealth(account: string): Promise<JsonObject> {
    const response = await system.fetch(`/credentials/${account}/health`);
    expect([account, response.status]).toEqual([account, 200]);
    return (await response.json()) as JsonObject;
  }

  test('is UP after a run of its agent, and shown with expanded credentials', async () => {
    for (const account of ['behind', 'listed']) {
      await expect
        .poll(() => getHealth(account), { timeout })
        .toMatchObject({ state: 'UP', breaker: 'closed', details: { cloudProvider: 'dockerRegistry' } });
    }
    const getExpanded = async () => {
      const list = asJsonArray(await (await system.fetch('/credentials?expand=true')).json());
      return asJsonObject(list.find((each) => asJsonObject(each)?.['name'] === 'behind'))?.['health'];
    };
    await expect.poll(getExpanded, { timeout }).toEqual({ state: 'UP' });
  });

  test('is DEGRADED where the registry refuses it', async () => {
    await expect
      .poll(() => getHealth('refused'), { timeout })
      .toMatchObject({
        state: 'DEGRADED',
        reason: 'the last run of its agent failed: GET /cache/introspection tells why',
        breaker: 'closed',
      });
    expect(await getHealth('refused')).not.toHaveProperty('lastSuccess');
  });

  test('is DOWN while the registry is away, and UP when it is back', async () => {
    await door.shut();
    for (const account of ['behind', 'listed']) {
      await expect
        .poll(() => getHealth(account), { timeout })
        .toMatchObject({
          state: 'DOWN',
          reason: 'the registry cannot be reached: GET /cache/introspection tells why',
          breaker: 'open',
          lastSuccess: expect.any(Number),
        });
    }
    // What is cached stays.
    const images = await system.fetch('/dockerRegistry/images/find?account=behind');
    expect(await images.json()).toMatchObject([{ repository: 'shop/cart', tag: '1' }]);
    expect(await system.readLog()).toContain('an account cannot be reached');

    await door.open();
    for (const account of ['behind', 'listed']) {
      await expect.poll(() => getHealth(account), { timeout }).toMatchObject({ state: 'UP' });
      expect(await getHealth(account)).not.toHaveProperty('reason');
    }
  });
});
