import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTokenSigner, startAgent, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startCachingWorld } from '../../support/agents/agent-world.ts';
import { type PassingCall, startApiProxy } from '../../support/cluster/api-proxy.ts';
import { describeWithCluster } from '../../support/cluster/cluster.ts';

const testMs = 240_000;
const filledMs = 120_000;

/** Lists that one agent makes at once, all together and of one account. */
const most = { process: 20, account: 2 };
const names = Array.from({ length: 24 }, (_, index) => `lists-${index}`);
const kinds = ['configMap', 'secret', 'service', 'pod'];

/** Milliseconds that each list takes once they are let through. */
const latencyMs = 100;

/** Calls that list a kind, each of which waits until they are let through. Namespaces are those of accounts. */
class HeldLists {
  /** Of each list that is under way its namespace. */
  readonly #held: string[] = [];
  readonly #opened = Promise.withResolvers<void>();
  #mostAtOnce = 0;
  #mostOfOne = 0;

  get count(): number {
    return this.#held.length;
  }

  /** The most that were under way at once, of all and of one account. */
  get most(): typeof most {
    return { process: this.#mostAtOnce, account: this.#mostOfOne };
  }

  async hold({ method, path, query }: PassingCall): Promise<void> {
    // Live reads ask for events.
    const [, namespace] = /\/namespaces\/([^/]+)\/(?!events)/.exec(path) ?? [];
    // The newest resource version is asked for by a list of one.
    if (namespace === undefined || method !== 'GET' || !/(^|&)limit=(?!1(&|$))/.test(query)) return;
    this.#held.push(namespace);
    this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#held.length);
    this.#mostOfOne = Math.max(this.#mostOfOne, this.#held.filter((each) => each === namespace).length);
    await this.#opened.promise;
    await sleep(latencyMs);
    this.#held.splice(this.#held.indexOf(namespace), 1);
  }

  open(): void {
    this.#opened.resolve();
  }
}

describeWithCluster('an agent of many accounts', (cluster) => {
  test(
    'makes 20 lists at once, two of one account; others wait, and work does not',
    async () => {
      const lists = new HeldLists();
      await using proxy = await startApiProxy(cluster, { before: (call) => lists.hold(call) });
      const signer = await createTokenSigner();
      const accounts = names.map((name) => ({ ...toAgentAccount(name, signer), namespaces: [name], kinds }));
      await using world = await startCachingWorld(accounts);
      const { system } = world;
      await using _agent = await startAgent({
        ...{ url: system.url, token: await signer.sign() },
        accounts: names.map((name) => ({ name, kubeConfigFile: proxy.kubeconfig })),
      });
      await expect.poll(() => lists.count, { timeout: filledMs }).toBe(most.process);
      // The agent goes on meanwhile: what it would list as well it would have begun to.
      for (const name of names.slice(0, 3)) {
        const read = await system.fetch(`/manifests/${name}/${name}/configMap none`);
        expect(read.status).toBe(404);
      }
      expect(lists.most).toEqual(most);

      lists.open();
      const countFilled = async (): Promise<number> => {
        const shown = (await (await system.fetch('/cache/introspection')).json()) as { asOf?: number }[];
        return shown.filter(({ asOf }) => asOf !== undefined).length;
      };
      await expect.poll(countFilled, { timeout: filledMs }).toBe(names.length);
      expect(lists.most).toEqual(most);
    },
    testMs,
  );
});
