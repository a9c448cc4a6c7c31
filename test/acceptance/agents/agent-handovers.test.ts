import { expect, test } from 'vitest';
import {
  createTokenSigner,
  findFreePort,
  startAgent,
  type TokenSigner,
  toAgentAccount,
} from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import { openRawAgent, type RawAnswer } from '../../support/agents/raw-agent.ts';
import { startApiProxy } from '../../support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '../../support/cluster/cluster.ts';
import { endLease } from '../../support/engines/end-lease.ts';

const testMs = 240_000;
const accounts = ['direct', 'edge-7', 'direct', 'edge-8'];

describeWithCluster('a task of several accounts', (cluster) => {
  test(
    'is handed from worker to worker, and each object is written once whoever is killed on the way',
    async () => {
      await using namespace = await createNamespace('handovers');
      const signers = [await createTokenSigner(), await createTokenSigner()] as const;
      const port = await findFreePort();
      const kills = new Map<string, () => Promise<unknown>>();
      const killed: string[] = [];
      await using proxy = await startApiProxy(cluster, {
        async before({ method, path, body }) {
          if (method === 'GET' || !path.includes(namespace.name)) return;
          // The first write of an operation comes right behind the handover to its worker.
          const name = [...kills.keys()].find((each) => JSON.stringify(body ?? path).includes(`${each}"`));
          const kill = name === undefined ? undefined : kills.get(name);
          if (name === undefined || kill === undefined) return;
          kills.delete(name);
          await kill();
          killed.push(name);
          throw new Error('the caller was killed');
        },
      });
      await using world = await startWorld(
        [
          { name: 'direct', kubeconfigFile: proxy.kubeconfig },
          ...signers.map((signer, index) => toAgentAccount(`edge-${index + 7}`, signer)),
        ],
        ['--port', String(port)],
      );
      const { system } = world;
      const start = async (name: string, signer: TokenSigner) =>
        startAgent({
          url: system.url,
          token: await signer.sign(),
          accounts: [{ name, kubeConfigFile: proxy.kubeconfig }],
        });
      await using agents = new AsyncDisposableStack();
      const seven = agents.use(await start('edge-7', signers[0]));
      const eight = agents.use(await start('edge-8', signers[1]));
      const names = accounts.flatMap((_, index) => [`o${index}-a`, `o${index}-b`]);
      kills.set('o1-a', () => seven.kill('SIGKILL'));
      kills.set('o2-a', () => system.kill('SIGKILL'));
      kills.set('o3-a', () => eight.kill('SIGKILL'));
      const id = await system.postOperations(
        accounts.map((account, index) => toDeploy(account, namespace.name, [`o${index}-a`, `o${index}-b`])),
      );
      for (const [name, again] of [
        ['o1-a', async () => agents.use(await start('edge-7', signers[0]))],
        ['o2-a', () => system.restart()],
        ['o3-a', async () => agents.use(await start('edge-8', signers[1]))],
      ] as const) {
        await expect.poll(() => killed, { timeout: 90_000 }).toContain(name);
        await again();
        await endLease(system.stores, id);
      }
      const task = await system.waitForTask(id, { timeoutMs: 120_000 });

      expect(task.status.failed).toBe(false);
      const written = proxy.calls.filter(({ method, written }) => method !== 'GET' && written !== undefined);
      expect(written.map((call) => call.written?.metadata.name)).toEqual(names);
      expect(task.history.filter(({ status }) => status.startsWith('Submitting '))).toHaveLength(
        names.length,
      );
      expect(task.history.at(-1)?.status).toBe('Orchestration completed.');
      expect(task.resultObjects).toHaveLength(accounts.length);
    },
    testMs,
  );
});

test(
  'agents are told nothing of operations of others, and can write nothing of them',
  async () => {
    const [one, two] = [await createTokenSigner(), await createTokenSigner('system:serviceaccount:b:agent')];
    await using world = await startWorld([toAgentAccount('edge-7', one), toAgentAccount('edge-8', two)]);
    const { system } = world;
    const seven = await openRawAgent(system.url, one, { agentId: 'seven', accounts: ['edge-7'] });
    const eight = await openRawAgent(system.url, two, { agentId: 'eight', accounts: ['edge-8'] });
    const id = await system.postOperations(
      ['edge-7', 'edge-8', 'edge-7'].map((account, index) =>
        toDeploy(account, 'default', [`object-${index}`]),
      ),
    );
    const listWork = async (agent: typeof seven) =>
      (await agent.call('GET', `/agent/v1/sessions/${agent.session}/work`)).body['work'];
    const mine = (account: string) => [{ kind: 'TASK', account, id }];
    const commit = (agent: typeof seven, end: { lease: unknown; next: string }, entries: object[] = []) =>
      agent.commit(id, { ...end, entries: entries.map((entry) => JSON.stringify(entry)) });
    const toError = ({ status, body }: RawAnswer) => [
      status,
      JSON.stringify(body['errors'] ?? body['message']),
    ];

    expect([await listWork(seven), await listWork(eight)]).toEqual([mine('edge-7'), []]);
    expect((await eight.take(id)).status).toBe(403);
    const first = await seven.take(id);
    expect(first.body).toMatchObject({ account: 'edge-7', handsOver: true });
    expect(JSON.stringify(first.body)).toContain('object-0');
    expect(JSON.stringify(first.body)).not.toMatch(/object-[12]|edge-8/);
    const { lease } = first.body;
    const secret = { key: '0/op/0/made', lines: [], value: 'of-seven' };
    expect(toError(await commit(seven, { lease, next: 'COMPLETED' }))).toEqual([
      400,
      '["next: expected handover, for operations of other accounts follow"]',
    ]);
    expect(toError(await commit(seven, { lease, next: 'hold' }, [{ key: '0/op/1', lines: [] }]))).toEqual([
      400,
      '["entries[0]: expected a key of operations 0 to 0"]',
    ]);
    const exception = { type: 'EXCEPTION', operation: 'x', message: 'of-seven', cause: 'of-seven' };
    const failure = {
      key: '0/op/0',
      lines: [],
      value: { failed: true, why: 'of-seven' },
      results: [JSON.stringify(exception)],
    };
    expect((await commit(seven, { lease, next: 'handover' }, [secret, failure])).status).toBe(200);
    // Its answer was lost, and it says so again.
    expect((await commit(seven, { lease, next: 'handover' }, [secret, failure])).status).toBe(403);

    expect([await listWork(seven), await listWork(eight)]).toEqual([[], mine('edge-8')]);
    expect((await seven.take(id)).status).toBe(403);
    const second = await eight.take(id);
    const text = JSON.stringify(second.body);
    expect(text).toContain('object-1');
    expect(text).not.toMatch(/object-[02]|edge-7|of-seven/);
    expect(second.body['journal']).toEqual(['{"key":"0/op/0","lines":[],"value":{"failed":true}}']);
    const done = { key: '0/op/1', lines: [] };
    expect((await commit(eight, { lease: second.body['lease'], next: 'handover' }, [done])).status).toBe(200);

    expect(await listWork(seven)).toEqual(mine('edge-7'));
    const third = await seven.take(id);
    expect(third.body).not.toHaveProperty('handsOver');
    expect(JSON.stringify(third.body)).not.toMatch(/object-[01]|edge-8/);
    expect(toError(await commit(seven, { lease: third.body['lease'], next: 'handover' }))).toEqual([
      400,
      '["next: expected an end, for no other part follows"]',
    ]);
    // One of the operations failed, of which the others know nothing but that.
    expect(
      (await commit(seven, { lease: third.body['lease'], next: 'FAILED' }, [{ key: '0/op/2', lines: [] }]))
        .status,
    ).toBe(200);
    const task = await system.waitForTask(id);
    expect(task.status.failed).toBe(true);
    expect(task.resultObjects).toEqual([exception]);
    expect([await listWork(seven), await listWork(eight)]).toEqual([[], []]);

    const turns = Array.from({ length: 101 }, (_, index) =>
      toDeploy(`edge-${7 + (index % 2)}`, 'default', ['x']),
    );
    const tooMany = await system.fetch('/kubernetes/ops', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(turns),
    });
    expect(tooMany.status).toBe(400);
    expect(await tooMany.text()).toContain(
      'The operations change 100 times between accounts that agents reach',
    );
  },
  testMs,
);
