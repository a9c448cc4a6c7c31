import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { UnavailableError } from '#core/errors.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { front50Plugin } from '#providers/front50/index.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { createTestClock, type TestClock } from '#test/support/run/test-clock.ts';
import { type Front50, startFront50 } from '#test/support/services/front50.ts';
import type { Catalog } from '#views/catalog.ts';
import { createTestLog, createTestOptions } from '../artifacts/options.ts';

const cart = { name: 'CART', email: 'cart@example.com', cloudProviders: 'kubernetes' };
const shop = {
  id: '5a1e',
  name: 'Shop',
  email: 'shop@example.com',
  config: {
    applications: ['cart', 'web'],
    clusters: [
      { account: 'prod', stack: '*', detail: '*', applications: null },
      { account: 'test', stack: 'blue', applications: ['web'] },
      { stack: 'without an account' },
    ],
    pipelineConfigs: [],
  },
};
const shopSpec = {
  id: '5a1e',
  name: 'Shop',
  attributes: shop,
  applications: ['cart', 'web'],
  clusters: [
    { account: 'prod', stack: '*', detail: '*', applications: [] },
    { account: 'test', stack: 'blue', detail: undefined, applications: ['web'] },
  ],
};

let front50: Front50;
let clock: TestClock;
let log: ReturnType<typeof createTestLog>;
let provider: Provider;
let catalog: Catalog;

beforeEach(async () => {
  front50 = await startFront50({ applications: [cart], projects: [shop] });
  clock = createTestClock();
  log = createTestLog();
  provider = open({ baseUrl: front50.url });
  if (provider.catalog === undefined) throw new Error('there is no catalog');
  catalog = provider.catalog;
});
disposeAfterEach(() => [provider, front50]);

function open(settings: { readonly [name: string]: string }): Provider {
  return front50Plugin.open(createTestOptions({ services: { front50: settings } }, { clock, log }));
}

/** Lets Front50 answer nothing good, and at once. */
function breakFront50(): void {
  front50.instead = (_, response) => response.writeHead(404).end();
}

async function listNames(): Promise<readonly string[]> {
  return (await catalog.listApplications()).applications.map(({ name }) => name);
}

describe('the catalog', () => {
  it('is there where Front50 is configured', () => {
    expect(front50Plugin.open(createTestOptions({})).catalog).toBeUndefined();
  });

  it('is left out with a reason where its setting is wrong', () => {
    const wrong = open({ baseUrl: 'nonsense' });
    expect(wrong.catalog).toBeUndefined();
    expect(wrong.rejectedAccounts).toEqual([
      { name: 'services.front50', reason: expect.stringContaining('services.front50.baseUrl: expected') },
    ]);
  });

  it('has the applications with all that was entered for them', async () => {
    front50.applications = [cart, { email: 'nameless' }, { name: ' ' }];
    expect(await catalog.listApplications()).toEqual({
      applications: [{ name: 'CART', attributes: cart }],
      isCurrent: true,
    });
    expect(front50.asked).toEqual(['/v2/applications?restricted=false']);
  });

  it('finds an application and a project in any case', async () => {
    expect(await catalog.findApplication('cart')).toEqual({ name: 'CART', attributes: cart });
    expect(await catalog.findApplication('other')).toBeUndefined();
    expect(await catalog.findProject('shop')).toEqual(shopSpec);
    expect(await catalog.findProject('5A1E')).toEqual(shopSpec);
    expect(await catalog.findProject('other')).toBeUndefined();
    expect(await catalog.listProjects()).toEqual([shopSpec]);
  });

  it('has an empty project for one whose configuration is missing', async () => {
    front50.projects = [{ name: 'new' }];
    expect(await catalog.listProjects()).toEqual([
      { id: 'new', name: 'new', attributes: { name: 'new' }, applications: [], clusters: [] },
    ]);
  });
});

describe('answers of Front50', () => {
  it('are asked for once while they are fresh, however many ask', async () => {
    await Promise.all([listNames(), listNames(), catalog.findApplication('cart')]);
    clock.advance(29_000);
    await listNames();
    expect(front50.asked).toHaveLength(1);
  });

  it('are renewed after half a minute', async () => {
    await listNames();
    front50.applications = [{ name: 'WEB' }];
    clock.advance(31_000);
    expect(await listNames()).toEqual(['WEB']);
  });

  it('are renewed for what was entered a moment ago', async () => {
    expect(await catalog.findProject('new')).toBeUndefined();
    front50.projects.push({ name: 'new' });
    clock.advance(3_000);
    expect(await catalog.findProject('new')).toMatchObject({ name: 'new' });
  });

  it('are waited for half a second by who has older ones', async () => {
    await listNames();
    const held: ServerResponse[] = [];
    front50.instead = (_, response) => void held.push(response);
    clock.advance(31_000);
    expect(await listNames()).toEqual(['CART']);
    // The call goes on, for longer than anybody waits for it.
    expect(held.map(({ destroyed }) => destroyed)).toEqual([false]);
    held[0]?.end('[{"name": "WEB"}]');
    await expect.poll(listNames).toEqual(['WEB']);
  });
});

describe('a Front50 that does not answer', () => {
  it('leaves what it answered last, which in the end is not current', async () => {
    await listNames();
    await catalog.listProjects();
    breakFront50();
    clock.advance(4 * 60_000);
    expect(await catalog.listApplications()).toMatchObject({ isCurrent: true });
    clock.advance(2 * 60_000);
    expect(await catalog.listApplications()).toMatchObject({
      applications: [{ name: 'CART' }],
      isCurrent: false,
    });
    expect(await catalog.findProject('shop')).toEqual(shopSpec);
    await expect(catalog.findProject('other')).rejects.toThrow(UnavailableError);
  });

  it('counts as empty when it never answered', async () => {
    breakFront50();
    expect(await catalog.listApplications()).toEqual({ applications: [], isCurrent: false });
    expect(await catalog.findApplication('cart')).toBeUndefined();
    expect(await catalog.listProjects()).toEqual([]);
    await expect(catalog.findProject('shop')).rejects.toThrow(UnavailableError);
  });

  it('is left alone for a while, longer each time, and logged now and then', async () => {
    breakFront50();
    for (let second = 0; second < 600; second += 1) {
      await listNames();
      clock.advance(1_000);
    }
    expect(front50.asked.length).toBeGreaterThan(10);
    expect(front50.asked.length).toBeLessThan(20);
    expect(log.lines.filter((line) => line.startsWith('Front50 does not answer'))).toHaveLength(2);
    front50.instead = undefined;
    clock.advance(120_000);
    expect(await listNames()).toEqual(['CART']);
    expect(log.lines.at(-1)).toContain('Front50 answers again');
  });

  it.each(['{"error": "sorry"}', 'null', '"text"'])('does not answer with %s either', async (body) => {
    await listNames();
    front50.instead = (_, response) => response.end(body);
    clock.advance(31_000);
    expect(await listNames()).toEqual(['CART']);
    expect(log.lines.at(-1)).toContain('its answer is no list');
  });
});
