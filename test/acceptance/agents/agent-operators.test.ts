import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { operatorRoutes } from '../../../functions/operator-routes.ts';
import { createTokenSigner, startAgent, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import { callRaw, openRawAgent, type RawAnswer } from '../../support/agents/raw-agent.ts';
import { createNamespace, describeWithCluster } from '../../support/cluster/cluster.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';
import { startFiat } from '../../support/services/fiat.ts';
import { startSystem } from '../../support/system/system.ts';

const testMs = 240_000;
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describeWithCluster('operators of agents', (cluster) => {
  test(
    'see who is connected and what was done, and can have an agent begin anew',
    async () => {
      await using namespace = await createNamespace('operators');
      const signer = await createTokenSigner();
      const direct = { name: 'direct', kubeconfigFile: cluster.kubeconfig };
      await using world = await startWorld([toAgentAccount('edge', signer), direct]);
      const { system } = world;
      const get = (target: string) => callRaw(system.url, { method: 'GET', target });
      expect(await read(get('/armory/agents'))).toEqual([]);
      await using agent = await startAgent({
        url: system.url,
        token: await signer.sign(),
        accounts: [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }],
      });
      const ids = [];
      for (const account of ['edge', 'direct']) {
        const id = await system.postOperations([toDeploy(account, namespace.name, [account])]);
        await system.waitForTask(id, { timeoutMs: 60_000 });
        ids.push(id);
      }
      const [id] = ids;

      const [shown] = (await read(get('/armory/agents'))) as [{ agentId: string }];
      expect(shown).toEqual({
        ...{ agentId: expect.any(String), clouddriverId: 'busdriver', clouddriverAlive: true },
        ...{ accounts: ['edge'], type: 'kubernetes', zone: '', protocol: 1, journalFormat: 1 },
        ...{ connected: true, outdated: false, lastWarnings: [] },
        ...{ lastConnection: expect.stringMatching(iso), version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      });
      const { agentId } = shown;
      expect(await read(get(`/armory/agents/${agentId}`))).toMatchObject({ agentId, connected: true });

      // Of the direct account nothing is told here.
      const [record, ...others] = await read(get('/armory/agent/operations'));
      expect(others).toEqual([]);
      expect(record).toEqual({
        ...{ operationId: id, account: 'edge', operationType: 'deployManifest', finalOutcome: 'COMPLETED' },
        ...{ startTime: expect.stringMatching(iso), endTime: expect.stringMatching(iso) },
        totalDurationMs: expect.any(Number),
        opReceivedByClouddriver: { clouddriverId: 'busdriver', time: expect.stringMatching(iso) },
        opSentToAgent: { agentId, time: expect.stringMatching(iso) },
        resultReceivedFromAgent: {
          ...{ agentId, clouddriverId: 'busdriver', time: expect.stringMatching(iso) },
          result: { status: 'COMPLETED', durationMs: expect.any(Number) },
        },
      });
      const { startTime, endTime, totalDurationMs, opSentToAgent } = record ?? {};
      expect(totalDurationMs).toBe(Date.parse(String(endTime)) - Date.parse(String(startTime)));
      const sent = Date.parse((opSentToAgent as { readonly time: string }).time);
      expect(sent).toBeGreaterThanOrEqual(Date.parse(String(startTime)));
      expect(sent).toBeLessThanOrEqual(Date.parse(String(endTime)));
      expect(await read(get(`/armory/agent/operations/${id}`))).toEqual(record);
      expect((await get(`/armory/agent/operations/${ids[1]}`)).status).toBe(404);

      const before = countSessions(agent.log);
      const told = await callRaw(system.url, {
        ...{ method: 'POST', target: `/armory/agent/${agentId}/disconnect` },
        body: { origin: 'test', clusterDriven: false, timestamp: 1 },
      });
      expect([told.status, told.body]).toEqual([202, { agentId, sessions: 1 }]);
      await expect.poll(() => countSessions(agent.log), { timeout: 60_000 }).toBe(before + 1);
      const again = await system.postOperations([toDeploy('edge', namespace.name, ['again'])]);
      expect((await system.waitForTask(again, { timeoutMs: 60_000 })).status.failed).toBe(false);
      const events = await system.readEvents();
      expect(
        events.filter((event) => event['detail-type'] === 'Audit').map(({ detail }) => detail),
      ).toContainEqual(
        expect.objectContaining({
          ...{ action: 'changeAgent', outcome: 'allowed', status: 202, name: agentId, account: 'edge' },
        }),
      );
    },
    testMs,
  );
});

test(
  'operators page through agents and operations, and are told what is wrong with a question',
  async () => {
    const signer = await createTokenSigner();
    await using world = await startWorld([toAgentAccount('edge', signer)]);
    const { system } = world;
    const get = (target: string) => callRaw(system.url, { method: 'GET', target });
    const names = ['a', 'a-b', 'a.b', 'b', 'c'];
    for (const agentId of names) await openRawAgent(system.url, signer, { agentId, accounts: ['edge'] });
    const closed = await openRawAgent(system.url, signer, { agentId: 'b-closed', accounts: ['edge'] });
    await closed.call('DELETE', `/agent/v1/sessions/${closed.session}`);
    const pages = [];
    for (let after: string | null = ''; after !== null; ) {
      const page: RawAnswer = await get(`/armory/agents?items=2&after=${after}`);
      pages.push((await read(page)).map(({ agentId }) => agentId));
      after = page.headers.get('X-Busdriver-Next');
    }
    expect(pages).toEqual([['a', 'a-b'], ['a.b', 'b'], ['c']]);

    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      ids.unshift(await system.postOperations([toDeploy('edge', 'default', [name])]));
    }
    const list = async (query: string) =>
      (await read(get(`/armory/agent/operations${query}`))).map(({ operationId }) => operationId);
    expect(await list('')).toEqual(ids);
    expect([await list('?items=2'), await list('?items=2&page=1'), await list('?page=1')]).toEqual([
      ids.slice(0, 2),
      ids.slice(2),
      [],
    ]);
    // What nobody took has been sent to nobody.
    const [waiting] = await read(get('/armory/agent/operations?items=1'));
    expect(Object.keys(waiting ?? {}).sort()).toEqual(
      ['account', 'opReceivedByClouddriver', 'operationId', 'operationType', 'startTime'].sort(),
    );

    const bad: readonly (readonly [string, number, RegExp, (string | undefined)?, unknown?])[] = [
      ['/armory/agents?items=0', 400, /'items' must be a whole number from 1 to 500/],
      ['/armory/agents?items=many', 400, /'items'/],
      ['/armory/agents/no-such', 404, /No agent 'no-such' has a session/],
      ['/armory/agents/b-closed', 404, /No agent 'b-closed'/],
      ['/armory/agent/operations?items=201', 400, /'items' must be a whole number from 1 to 200/],
      ['/armory/agent/operations?page=-1', 400, /'page' must be a whole number from 0 to/],
      ['/armory/agent/operations?items=200&page=50', 400, /'page' must not lead beyond 10000 operations/],
      ['/armory/agent/operations/no-such', 404, /No operation of an agent is 'no-such'/],
      ['/armory/clouddrivers/other', 404, /No clouddriver is named 'other'/],
      ['/armory/clouddrivers/sql/pool/settings', 404, /There is no pool of SQL connections/],
      ['/armory/agent/no-such/disconnect', 404, /No agent 'no-such'/, 'POST', {}],
      ['/armory/agent/a/disconnect', 400, /must have a body in JSON/, 'POST'],
      ['/armory/agent/a/disconnect', 400, /expected/, 'POST', []],
      ['/armory/agent/a/disconnect', 400, /origin/, 'POST', { origin: 7 }],
      ['/armory/agent/a/disconnect', 400, /origin/, 'POST', { origin: 'x'.repeat(300) }],
      ['/armory/agent/a/disconnect', 400, /clusterDriven/, 'POST', { clusterDriven: 'perhaps' }],
      ['/armory/agent/a/disconnect', 400, /timestamp/, 'POST', { timestamp: {} }],
    ];
    for (const [target, status, words, method = 'GET', body] of bad) {
      const answer = await callRaw(system.url, {
        method,
        target,
        ...(body !== undefined && { body: body as object }),
      });
      expect([target, answer.status]).toEqual([target, status]);
      const { message, errors = [] } = answer.body as { message: string; errors?: string[] };
      expect([message, ...errors].join(' ')).toMatch(words);
    }
    // None of it disconnected anybody.
    expect(await read(get('/armory/agents?items=500'))).toHaveLength(names.length);
    // The token of one that was proves nothing from then on, whether it hears of that or not.
    const last = await openRawAgent(system.url, signer, { agentId: 'last', accounts: ['edge'] });
    const ask = async () => (await last.call('GET', `/agent/v1/sessions/${last.session}/work`)).status;
    expect(await ask()).toBe(200);
    const disconnect = { method: 'POST', target: '/armory/agent/last/disconnect', body: {} };
    expect((await callRaw(system.url, disconnect)).status).toBe(202);
    expect([await ask(), (await get('/armory/agents/last')).status]).toEqual([401, 404]);
    const self = {
      id: 'busdriver',
      baseUrl: system.url,
      ready: true,
      lastUpdated: expect.stringMatching(iso),
    };
    expect(await read(get('/armory/clouddrivers'))).toEqual([self]);
    expect((await get('/armory/clouddrivers/busdriver')).body).toEqual(self);
  },
  testMs,
);

test(
  'with Fiat operators are those who may manage accounts, and nobody else',
  async () => {
    await using fiat = await startFiat({ users: { ada: { accountManager: true }, eve: {} } });
    await using dir = await makeTempDir();
    const file = path.join(dir.path, 'clouddriver.yml');
    const settings = {
      services: { fiat: { enabled: true, baseUrl: fiat.url } },
      busdriver: { agents: { enabled: true } },
      kubernetes: { accounts: [] },
    };
    await writeFile(file, JSON.stringify(settings));
    await using system = await startSystem({ config: [file] });
    const ask = async (user: string | undefined): Promise<readonly number[]> => {
      const answers = operatorRoutes.map(async ({ method, path: template }) => {
        const answer = await fetch(new URL(template.replaceAll(/\{\w+\}/g, 'x'), system.url), {
          method,
          headers: { 'content-type': 'application/json', ...(user && { 'X-SPINNAKER-USER': user }) },
          ...(method !== 'GET' && { body: '{}' }),
        });
        return answer.status;
      });
      return Promise.all(answers);
    };
    const refused = operatorRoutes.map(() => 403);
    expect(await ask('eve')).toEqual(refused);
    expect(await ask(undefined)).toEqual(refused);
    expect((await ask('ada')).filter((status) => ![200, 202, 400, 404].includes(status))).toEqual([]);
    expect((await ask('ada')).filter((status) => status < 300)).toHaveLength(6);
  },
  testMs,
);

async function read(
  answer: RawAnswer | Promise<RawAnswer>,
): Promise<readonly { readonly [name: string]: unknown }[]> {
  const { status, body } = await answer;
  expect(status).toBe(200);
  return body as unknown as readonly { readonly [name: string]: unknown }[];
}

function countSessions(log: string): number {
  return log.split('"session with Busdriver"').length - 1;
}
