import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toAgentAccount } from '#test/support/agents/agent-process.ts';
import {
  awaitSome,
  type CachedAccount,
  type CachedWorld,
  findCache,
  listCaches,
  listShown,
  makeDeployment,
  openCachedWorld,
  toDeployment,
} from '#test/support/agents/cached-account.ts';
import { type PassingCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { recordHub } from './drills/recorded-hub.ts';

/** A change's way into a view, on a machine that does much else; usually it takes a second. */
const shownMs = 60_000;
/** The same where an agent has to come back before. */
const takenOverMs = 90_000;
/** Milliseconds after which the lease of an agent may be had that is not told that it was given back. */
const lapsesMs = 30_000;

/** Whether the lease of a dead agent is ended by the test, as time would. */
const endsLeases = chooseSize({ short: true, long: false });

/** Agents ask so seldom that whatever they do at once they were told to. */
const seldom = { limits: { pollIdleMs: 60_000, pollBusyMs: 60_000, pollConnectedMs: 60_000 } };

/** Accounts of the agent that has many; none of them has anything. */
const many = Array.from({ length: 24 }, (_, index) => `lists-${index}`);
const manyKinds = ['configMap', 'secret', 'service', 'pod'];
/** Lists that one agent makes at once, all together and of one account. */
const mostLists = { process: 20, account: 2 };
/** Milliseconds that each list takes once they are let through. */
const latencyMs = 100;

describeWithCluster('an agent that keeps accounts cached', (cluster) => {
  const stack = new AsyncDisposableStack();
  let world: CachedWorld;

  beforeAll(async () => {
    const names = ['away', 'large', 'wide', 'forgotten', 'mirrored', 'fresh', 'deployed'];
    world = stack.use(
      await openCachedWorld(names, {
        agents: seldom,
        listOthers: (namespaces, signer) => [
          { name: 'direct', kubeconfigFile: cluster.kubeconfig, namespaces: [namespaces.get('mirrored')] },
          ...many.map((name) => ({ ...toAgentAccount(name, signer), namespaces: [name], kinds: manyKinds })),
        ],
      }),
    );
  });
  afterAll(() => stack.disposeAsync());

  describe('of which something is wrong', () => {
    test.concurrent('has not failed where Busdriver was away, and begins again at once', async () => {
      await using account = world.use('away');
      const caches = '/agent/v1/caches/away';
      let isAway = true;
      await using hub = await recordHub(world.system.url, {
        refuse: (call) => (isAway && call === `GET ${caches}/epoch` ? { status: 503 } : undefined),
      });
      await account.start({ url: hub.url });
      // All its tries are used up, and it says how that ended.
      const readEnd = (): string | undefined =>
        /"outcome":"(\w+)"/.exec(hub.said.get(`PUT ${caches}/claims`) ?? '')?.[1];
      expect(await awaitSome('the end of a run', readEnd)).toBe('STOPPED');
      expect(await account.show()).toMatchObject({ failures: 0, isStale: false });
      isAway = false;
      await account.untilCached();
    });

    test.concurrent('leaves out and names an object that is too large, and keeps all others', async () => {
      await using account = world.use('large');
      await makeService(account, 'small');
      // Of one letter they are small once they are packed: Busdriver sees how large they are, the agent does not.
      await makeService(account, 'huge', 6_000);
      await account.start();
      await account.untilCached();
      expect(await awaitTooLarge(account)).toContain(`service huge in ${account.namespace}`);
      expect(await account.show()).toMatchObject({ failures: 0, isStale: false });
      await requestApi('DELETE', `${toServices(account)}/huge`);
      await account.awaitEquality();
    });

    test.concurrent('halves what is too large for one call, until the one object that is too large is left out and named', async () => {
      await using account = world.use('wide');
      for (const name of ['one', 'two', 'three', 'wide', 'five']) await makeService(account, name);
      const sizes: number[] = [];
      await using hub = await recordHub(world.system.url, {
        refuse(call, body) {
          if (call !== 'POST /agent/v1/caches/wide/changes') return undefined;
          const { changes } = JSON.parse(gunzipSync(body).toString()) as { changes: { name: string }[] };
          if (!changes.some(({ name }) => name === 'wide')) return undefined;
          sizes.push(changes.length);
          return { status: 413 };
        },
      });
      await account.start({ url: hub.url });
      await account.untilCached();
      expect(await awaitTooLarge(account)).toBe(`service wide in ${account.namespace}`);
      // Each list that has it begins with all of its kind.
      expect(sizes.slice(0, sizes.indexOf(1) + 1)).toEqual([5, 2, 1]);
      expect(await account.show()).toMatchObject({ failures: 0, isStale: false });
      await requestApi('DELETE', `${toServices(account)}/wide`);
      await account.awaitEquality();
    });

    test.concurrent('lists a kind anew, and no other, whose resource version the API server has forgotten', async () => {
      await using account = world.use('forgotten');
      let isForgotten = false;
      const lists: string[] = [];
      await using proxy = await startApiProxy(cluster, {
        getFault(call) {
          const kind = call.path.split('/').at(-1) ?? '';
          if (call.query.includes('watch=') && kind === 'services' && isForgotten) {
            isForgotten = false;
            return { type: 'status', status: 410, message: 'too old resource version' };
          }
          if (findListed(call) !== undefined) lists.push(kind);
          return undefined;
        },
      });
      const first = await account.start({ kubeConfigFile: proxy.kubeconfig });
      await account.untilCached();
      await first.kill('SIGTERM');
      // It gave its lease back, so that another one may go on at once.
      expect((await account.show())?.leaseOwner).toBeUndefined();
      await makeService(account, 'meanwhile');
      lists.length = 0;
      isForgotten = true;
      await account.start({ kubeConfigFile: proxy.kubeconfig });
      await account.awaitEquality();
      expect(lists).toEqual(['services']);
    });
  });

  test('makes 20 lists at once, two of one account; others wait, and work does not', async () => {
    const lists = new HeldLists();
    await using proxy = await startApiProxy(cluster, { before: (call) => lists.hold(call) });
    await using _ = await world.start(many, proxy.kubeconfig);
    await expect.poll(() => lists.count, { timeout: 2 * shownMs }).toBe(mostLists.process);
    // The agent goes on meanwhile: what it would list as well it would have begun to.
    for (const name of many.slice(0, 3)) {
      const read = await world.system.fetch(`/manifests/${name}/${name}/configMap none`);
      expect(read.status).toBe(404);
    }
    expect(lists.most).toEqual(mostLists);

    lists.open();
    const countFilled = async (): Promise<number> => {
      const shown = await listCaches(world.system);
      return shown.filter(({ account, asOf }) => many.includes(account) && asOf !== undefined).length;
    };
    await expect.poll(countFilled, { timeout: 2 * shownMs, interval: 500 }).toBe(many.length);
    expect(lists.most).toEqual(mostLists);
  });

  test('shows what a direct account of the cluster shows', async () => {
    await using account = world.use('mirrored');
    const { system, namespace } = account;
    await account.start();
    await account.untilCached();
    await awaitSome('the direct one is cached', async () => (await findCache(system, 'direct'))?.asOf);
    await makeDeployment(namespace, 'web', 'webshop');
    const listAccounts = () => listShown(system.url, ['webshop', 'serverGroupManagers'], 'account');
    await expect.poll(listAccounts).toEqual(['direct', 'mirrored']);
    await account.awaitEquality();
    for (const view of ['clusters/mirrored', 'serverGroups', 'serverGroupManagers', 'loadBalancers']) {
      expect(await readView(view, 'mirrored')).toEqual(await readView(view, 'direct'));
    }
    const found = await system.fetch(`/search?q=web&type=serverGroupManagers&pageSize=100`);
    expect(await found.text()).toContain('"mirrored"');

    await requestApi('DELETE', `/apis/apps/v1/namespaces/${namespace}/deployments/web`);
    await expect.poll(listAccounts).toEqual([]);
  });

  test('proves at once that an account is fresh, and takes it over at once when the other one stops', async () => {
    await using account = world.use('fresh');
    // Else all accounts would be asked, for who knows where the application is.
    await makeService(account, 'known');
    const first = await account.start();
    await first.untilLogged('keeping an account cached');
    const second = await account.start();
    await second.untilConnected();
    await expect.poll(() => isFresh(account)).toBe(true);

    const stoppedMs = performance.now();
    await first.kill('SIGTERM');
    await second.untilLogged('keeping an account cached');
    expect(performance.now() - stoppedMs).toBeLessThan(lapsesMs);
  });

  test('shows at once what it deployed; another one goes on when it is killed, and Busdriver', async () => {
    await using account = world.use('deployed');
    const { system, namespace } = account;
    const agents = [await account.start(), await account.start()];
    await account.untilCached();
    const operation = {
      ...{ account: 'deployed', moniker: { app: 'deployedshop' } },
      manifests: [toDeployment(namespace, 'deployed')],
    };
    const id = await system.postOperations([{ deployManifest: operation }]);
    const task = await system.waitForTask(id, { timeoutMs: takenOverMs });
    expect(task).toMatchObject({ status: { failed: false } });
    // Mostly at once: an operation waits two seconds for the cache.
    const listNames = () => listShown(system.url, ['deployedshop', 'serverGroupManagers']);
    await expect.poll(listNames).toEqual(['deployment deployed']);

    expect((await account.show())?.leaseOwner).toMatch(/^caching@/);
    const victim = agents.find(({ log }) => log.includes('keeping an account cached'));
    await victim?.kill('SIGKILL');
    if (endsLeases) await account.endLease();
    await system.kill('SIGKILL');
    await makeDeployment(namespace, 'meanwhile', 'deployedshop');
    await system.restart();
    // The other goes on where it was.
    await expect
      .poll(listNames, { timeout: takenOverMs })
      .toEqual(['deployment deployed', 'deployment meanwhile']);
  });

  async function readView(view: string, account: string): Promise<unknown> {
    const path = `/applications/webshop/${view.replace('mirrored', account)}`;
    const answer: unknown = await (await world.system.fetch(path)).json();
    const own = Array.isArray(answer) ? answer.filter((each) => each.account === account) : answer;
    return JSON.parse(JSON.stringify(own).replaceAll(account, 'one'));
  }
});

/** The namespace in which a call lists a kind; undefined for all other calls. The newest resource version is asked for by a list of one. */
function findListed({ method, path, query }: PassingCall): string | undefined {
  // Live reads ask for events.
  const [, namespace] = /\/namespaces\/([^/]+)\/(?!events)/.exec(path) ?? [];
  return method === 'GET' && /(^|&)limit=(?!1(&|$))/.test(query) ? namespace : undefined;
}

/** Calls that list a kind, each of which waits until they are let through. Namespaces are those of accounts. */
class HeldLists {
  /** Of each list that is under way its namespace. */
  readonly #held: string[] = [];
  readonly #opened = Promise.withResolvers<void>();
  /** The most that were under way at once, of all and of one account. */
  readonly most = { process: 0, account: 0 };

  get count(): number {
    return this.#held.length;
  }

  async hold(call: PassingCall): Promise<void> {
    const namespace = findListed(call);
    if (namespace === undefined) return;
    this.#held.push(namespace);
    const own = this.#held.filter((each) => each === namespace);
    this.most.process = Math.max(this.most.process, this.#held.length);
    this.most.account = Math.max(this.most.account, own.length);
    await this.#opened.promise;
    await sleep(latencyMs);
    this.#held.splice(this.#held.indexOf(namespace), 1);
  }

  open(): void {
    this.#opened.resolve();
  }
}

async function awaitTooLarge(account: CachedAccount): Promise<string> {
  const find = async () => (await account.show())?.details['tooLarge'];
  return String(await awaitSome('the object is named', find));
}

function toServices({ namespace }: CachedAccount): string {
  return `/api/v1/namespaces/${namespace}/services`;
}

async function makeService(account: CachedAccount, name: string, labels = 0): Promise<void> {
  const entries = Array.from({ length: labels }, (_, index) => [`label-${index}`, 'x'.repeat(63)]);
  const annotations = { 'moniker.spinnaker.io/application': `${account.name}shop` };
  const metadata = { name, annotations, labels: Object.fromEntries(entries) };
  await requestApi('POST', toServices(account), { metadata, spec: { ports: [{ port: 80 }] } });
}

/** Whether somebody who asks for fresh data is shown what was made just before. */
async function isFresh(account: CachedAccount): Promise<boolean> {
  const name = `made-${Math.floor(performance.now())}`;
  await makeService(account, name);
  const calledMs = Date.now();
  const headers = { 'cache-control': 'max-age=0' };
  const answer = await account.system.fetch('/applications/freshshop/loadBalancers', { headers });
  const shown = (await answer.text()).includes(name);
  const asOfMs = Date.parse(answer.headers.get('x-busdriver-as-of') ?? '');
  return shown && asOfMs >= calledMs;
}
