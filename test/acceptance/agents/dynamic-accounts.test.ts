import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTokenSigner, startAgent, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld, toDeploy } from '../../support/agents/agent-world.ts';
import { openRawAgent } from '../../support/agents/raw-agent.ts';
import { createNamespace, describeWithCluster } from '../../support/cluster/cluster.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';
import {
  createCaller,
  findRefusal,
  paths,
  readEvents,
  readStatus,
  toAgent,
} from '../../support/services/dynamic-accounts.ts';
import { startSystem } from '../../support/system/system.ts';

const testMs = 120_000;
const { accounts, dynamic, served } = paths;

describe('accounts of agents by the routes of Armory', () => {
  it(
    'are created inactive, activated, used, replaced, shut out and deleted',
    async () => {
      const signer = await createTokenSigner();
      await using world = await startWorld([]);
      const { system } = world;
      const { url } = system;
      const call = createCaller(url);
      const agent = toAgent(signer);

      // As the plug-in's users know it: a list or one alone, without a type.
      expect(
        await call('POST', dynamic, [
          { name: 'edge', zoneId: 'north', agent },
          { name: 'far', type: 'kubernetes', namespaces: ['shop', 'web'], agent },
        ]),
      ).toEqual([202, []]);
      expect(await call('POST', dynamic, { name: 'alone', agent })).toEqual([202, []]);
      const config = { type: 'kubernetes', name: 'edge', agent };
      expect(await call('GET', `${accounts}/edge`)).toEqual([
        200,
        {
          ...{ name: 'edge', type: 'kubernetes', source: 'clouddriver', status: 'INACTIVE' },
          agents: [],
          config,
        },
      ]);
      // The store of all accounts has them.
      expect(await call('GET', '/credentials/edge/history')).toMatchObject([200, [{ account: config }]]);
      expect(await findRefusal(url, signer, 'edge')).toMatch(/revoked/);

      // Those that are there are told; the others are created.
      expect(
        await call('POST', dynamic, [
          { name: 'EDGE', agent },
          { name: 'late', agent },
        ]),
      ).toEqual([409, [{ name: 'EDGE' }]]);
      expect(await readStatus(url, 'late')).toBe('INACTIVE');

      const activate = (state: string, ...names: readonly string[]) =>
        call(
          'PATCH',
          accounts,
          names.map((name) => ({ name, state, zoneId: 'north' })),
        );
      expect(await activate('ACTIVE', 'edge', 'far')).toEqual([202, {}]);
      expect(await readStatus(url, 'edge')).toBe('ACTIVATING');
      const raw = await openRawAgent(url, signer, { agentId: 'one', accounts: ['edge'], zone: 'north' });
      expect(await call('GET', `${accounts}/edge`)).toMatchObject([
        200,
        { status: 'ACTIVE', zoneId: 'north', agents: [{ agentId: 'one' }] },
      ]);
      expect(await call('GET', `${served}/edge`)).toEqual([
        200,
        {
          ...{ name: 'edge', status: 'ACTIVE', dynamic: true, connections: 1, zoneId: 'north' },
          ...{ lastUpdated: expect.any(Number), permissions: {}, definition: config },
        },
      ]);
      const task = await system.postOperations([toDeploy('edge', 'default', ['one'])]);
      expect((await raw.take(task)).status).toBe(200);

      // Whose proof it takes stays, and so does that agents are let in.
      const body = { name: 'edge', type: 'kubernetes', namespaces: ['shop', 'dev'] };
      const put = (ifMatch: string) =>
        fetch(new URL(dynamic, url), {
          method: 'PUT',
          body: JSON.stringify({ ...body, zoneId: 'north' }),
          headers: { 'content-type': 'application/json', 'if-match': ifMatch },
        });
      expect((await put('"7"')).status).toBe(412);
      const replaced = await put('"1"');
      expect([replaced.status, replaced.headers.get('etag'), await replaced.json()]).toEqual([
        202,
        '"2"',
        [],
      ]);
      const shown = await fetch(new URL(`${accounts}/edge`, url));
      expect(shown.headers.get('etag')).toBe('"2"');
      expect(await shown.json()).toMatchObject({ status: 'ACTIVE', config: { ...body, agent } });
      expect(await call('GET', `${served}/edge/namespaces`)).toEqual([200, ['shop', 'dev']]);

      const work = () => raw.call('GET', `/agent/v1/sessions/${raw.session}/work`);
      expect((await work()).status).toBe(200);
      expect(await activate('INACTIVE', 'edge', 'far')).toEqual([202, {}]);
      expect([(await work()).status, await readStatus(url, 'edge')]).toEqual([401, 'INACTIVE']);
      expect(await findRefusal(url, signer, 'edge')).toMatch(/revoked/);
      expect(await activate('ACTIVE', 'edge')).toEqual([202, {}]);
      // Nothing becomes of what is so already.
      expect(await activate('ACTIVE', 'edge')).toEqual([202, {}]);
      expect(await readEvents(url, 'edge')).toEqual(['enrolled', 'revoked', 'enrolled', 'revoked']);

      expect(await call('DELETE', `${accounts}/alone`)).toEqual([204, {}]);
      expect(await call('DELETE', accounts, ['edge', 'late'])).toEqual([202, {}]);
      const names = ['alone', 'edge', 'late', 'far'];
      const gone = (name: string) => `No account found with name ${name}`;
      expect(await Promise.all(names.map((name) => readStatus(url, name)))).toEqual([
        ...names.slice(0, 3).map(gone),
        'INACTIVE',
      ]);
      const acts = (await system.readEvents())
        .filter((event) => event['detail-type'] === 'Audit')
        .map(({ detail: { action, outcome, account, accounts: all } }) => [action, outcome, account, all]);
      expect(acts).toEqual(
        expect.arrayContaining([
          ['changeAccount', 'allowed', 'edge', ['edge', 'far']],
          ['changeAccount', 'allowed', 'alone', undefined],
          ['changeAgent', 'allowed', 'edge', ['edge', 'far']],
          ['changeAccount', 'failed', 'edge', undefined],
          ['changeAccount', 'allowed', 'edge', ['edge', 'late']],
        ]),
      );
    },
    testMs,
  );

  it(
    'come from accounts of the store that were reached from here, and settings keep theirs',
    async () => {
      const signer = await createTokenSigner();
      const agent = toAgent(signer);
      await using world = await startWorld([toAgentAccount('settled', signer)]);
      const { url } = world.system;
      const call = createCaller(url);
      const kept = { namespaces: ['shop'], environment: 'test' };
      const stored = {
        type: 'kubernetes',
        name: 'reached',
        ...kept,
        kubeconfigSecret: 'clusters/r',
        context: 'c',
      };
      expect((await call('POST', '/credentials', stored))[0]).toBe(200);
      expect(await call('POST', accounts, [{ name: 'reached', agent }, { name: 'settled' }])).toEqual([
        409,
        [{ name: 'settled' }],
      ]);
      const config = { type: 'kubernetes', name: 'reached', ...kept, agent };
      const [, shown] = await call('GET', `${accounts}/reached`);
      expect(shown).toEqual({
        ...{ name: 'reached', type: 'kubernetes', source: 'clouddriver', status: 'INACTIVE' },
        ...{ agents: [], config },
      });
      expect(await call('POST', accounts, [{ name: 'reached' }])).toEqual([409, [{ name: 'reached' }]]);
      expect(await call('PATCH', accounts, [{ name: 'reached', state: 'ACTIVE' }])).toEqual([202, {}]);
      expect(await findRefusal(url, signer, 'reached')).toBeUndefined();

      const settled = { name: 'settled', type: 'kubernetes', source: 'clouddriver', agents: [] };
      expect(await call('GET', `${accounts}/settled`)).toEqual([200, { ...settled, status: 'ACTIVATING' }]);
      expect(await call('PATCH', accounts, [{ name: 'settled', state: 'INACTIVE' }])).toEqual([202, {}]);
      expect(await call('GET', `${served}/settled`)).toEqual([
        200,
        {
          ...{ name: 'settled', status: 'INACTIVE', dynamic: false, connections: 0 },
          ...{ lastUpdated: expect.any(Number), permissions: {} },
        },
      ]);
      expect(await call('POST', '/armory/agent/operations/database')).toEqual([202, { accounts: 2 }]);
    },
    testMs,
  );

  it(
    'are not served where accounts are not stored, or agents are not served',
    async () => {
      const signer = await createTokenSigner();
      const agent = toAgent(signer);
      await using dir = await makeTempDir();
      const file = path.join(dir.path, 'clouddriver.yml');
      const settings = {
        account: { storage: { enabled: false } },
        busdriver: { agents: { enabled: true } },
        kubernetes: { accounts: [toAgentAccount('settled', signer)] },
      };
      await writeFile(file, JSON.stringify(settings));
      await using system = await startSystem({ config: [file] });
      const call = createCaller(system.url);
      const words =
        'Cannot use AccountDefinitionService endpoints without enabling AccountDefinitionService bean';
      expect(await call('POST', dynamic, { name: 'edge', agent })).toEqual([400, words]);
      expect(await call('DELETE', `${accounts}/settled`)).toEqual([400, words]);
      expect(await call('PATCH', accounts, [{ name: 'settled', state: 'INACTIVE' }])).toEqual([202, {}]);
      expect(await readStatus(system.url, 'settled')).toBe('INACTIVE');

      await using world = await startWorld([], [], { enabled: false });
      const unserved = 'Agents are not served here: busdriver.agents.enabled is not true';
      const ask = createCaller(world.system.url);
      expect(await ask('POST', dynamic, { name: 'edge', agent })).toEqual([404, unserved]);
      expect(await ask('PATCH', accounts, [{ name: 'edge', state: 'ACTIVE' }])).toEqual([404, unserved]);
    },
    testMs,
  );
});

describeWithCluster('an agent of an account that was made so', (cluster) => {
  it(
    'runs operations of it from the moment in which it is activated',
    async () => {
      await using namespace = await createNamespace('dynamic');
      const signer = await createTokenSigner();
      const agent = toAgent(signer);
      await using world = await startWorld([]);
      const { system } = world;
      const call = createCaller(system.url);
      expect(await call('POST', dynamic, { name: 'edge', agent })).toEqual([202, []]);
      await using process = await startAgent({
        url: system.url,
        token: await signer.sign(),
        accounts: [{ name: 'edge', kubeConfigFile: cluster.kubeconfig }],
      });
      await expect.poll(() => process.log, { timeout: 60_000 }).toContain('are revoked');
      expect(await call('PATCH', accounts, [{ name: 'edge', state: 'ACTIVE' }])).toEqual([202, {}]);
      const id = await system.postOperations([toDeploy('edge', namespace.name, ['made'])]);
      expect((await system.waitForTask(id, { timeoutMs: 60_000 })).status.failed).toBe(false);
      const [, shown] = await call('GET', `${served}/edge`);
      expect(shown).toMatchObject({
        ...{ status: 'ACTIVE', connections: 1, kubeHost: expect.stringMatching(/^https:/) },
        ...{
          kubeVersion: expect.stringMatching(/^v\d/),
          certFingerprint: expect.stringMatching(/^[0-9A-F:]+$/i),
        },
      });
    },
    2 * testMs,
  );
});
