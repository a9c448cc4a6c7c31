import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTokenSigner } from '../../support/agents/agent-process.ts';
import { startWorld } from '../../support/agents/agent-world.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';
import { createCaller, paths, readStatus, toAgent } from '../../support/services/dynamic-accounts.ts';
import { startFiat } from '../../support/services/fiat.ts';
import { startSystem } from '../../support/system/system.ts';

const testMs = 120_000;
const { accounts, dynamic, served } = paths;

describe('who may change accounts of agents', () => {
  it(
    'is who may change the accounts themselves, and nothing of a list is done for others',
    async () => {
      const signer = await createTokenSigner();
      const agent = toAgent(signer);
      const all = ['READ', 'WRITE'] as const;
      const mine = { accounts: { mine: all }, roles: ['m'], accountManager: true };
      const admin = { admin: true };
      await using fiat = await startFiat({
        users: { ada: mine, root: admin, eve: { accounts: { mine: all } } },
      });
      await using dir = await makeTempDir();
      const file = path.join(dir.path, 'clouddriver.yml');
      const settings = {
        services: { fiat: { enabled: true, baseUrl: fiat.url } },
        busdriver: { agents: { enabled: true } },
        kubernetes: { accounts: [] },
      };
      await writeFile(file, JSON.stringify(settings));
      await using system = await startSystem({ config: [file] });
      const ada = createCaller(system.url, 'ada');
      const eve = createCaller(system.url, 'eve');
      const root = createCaller(system.url, 'root');
      const managers = 'Access denied: only managers of accounts and administrators may do this';
      const denied = 'Access denied to account theirs - required authorization: WRITE';
      const permissions = { READ: ['m'], WRITE: ['m'] };

      expect(await eve('POST', dynamic, { name: 'mine', agent })).toEqual([403, managers]);
      expect(await ada('POST', dynamic, { name: 'mine', agent, permissions })).toEqual([202, []]);
      const theirs = { name: 'theirs', agent, permissions: { READ: ['t'], WRITE: ['t'] } };
      const other = { name: 'more', agent };
      expect(await ada('POST', dynamic, [other, theirs])).toEqual([
        400,
        ['[1]: Cannot create account without granting permissions for current user (name: theirs)'],
      ]);
      expect(await readStatus(system.url, 'more', 'root')).toBe('No account found with name more');
      expect(await root('POST', dynamic, [theirs])).toEqual([202, []]);

      const active = (name: string) => ({ name, state: 'ACTIVE' });
      const refused: readonly (readonly [string, string, (object | undefined)?])[] = [
        ['PATCH', accounts, [active('mine'), active('theirs')]],
        ['DELETE', accounts, ['mine', 'theirs']],
        ['DELETE', `${accounts}/theirs`],
        ['PUT', dynamic, { name: 'theirs' }],
        ['GET', `${accounts}/theirs`],
        ['GET', `${served}/theirs`],
        ['GET', `${served}/theirs/namespaces`],
      ];
      for (const [method, target, body] of refused) {
        expect([method, target, ...(await ada(method, target, body))]).toEqual([method, target, 403, denied]);
        expect([method, target, ...(await eve(method, target, body))]).toEqual([
          method,
          target,
          403,
          managers,
        ]);
      }
      expect(await readStatus(system.url, 'mine', 'ada')).toBe('INACTIVE');
      expect(await ada('PATCH', accounts, [active('mine')])).toEqual([202, {}]);
      expect(await readStatus(system.url, 'mine', 'ada')).toBe('ACTIVATING');
      // One that is reached from here is no one's to take but by who may change it.
      const reached = {
        type: 'kubernetes',
        name: 'direct',
        kubeconfigSecret: 'clusters/d',
        permissions: theirs.permissions,
      };
      expect((await root('POST', '/credentials', reached))[0]).toBe(200);
      expect(await ada('POST', accounts, [{ name: 'direct', agent }])).toEqual([
        403,
        'Access denied to account direct - required authorization: WRITE',
      ]);
      const [, history] = await root('GET', '/credentials/direct/history');
      expect(history).toHaveLength(1);
    },
    testMs,
  );

  it(
    'is, without Fiat, who may use them by what Gate says',
    async () => {
      const signer = await createTokenSigner();
      const agent = toAgent(signer);
      await using world = await startWorld([]);
      const call = createCaller(world.system.url);
      const permissions = { READ: ['shop'], WRITE: ['shop'] };
      await call('POST', dynamic, [
        { name: 'edge', agent, permissions },
        { name: 'open', agent },
      ]);
      const denied = 'Access denied to account edge - required authorization: WRITE';
      const activation = ['open', 'edge'].map((name) => ({ name, state: 'ACTIVE' }));
      expect(await call('PATCH', accounts, activation)).toEqual([403, denied]);
      expect(await call('GET', `${served}/edge`)).toEqual([403, denied]);
      expect(await readStatus(world.system.url, 'open')).toBe('INACTIVE');
      const headers = { 'content-type': 'application/json', 'X-SPINNAKER-ACCOUNTS': 'edge' };
      const patch = { method: 'PATCH', body: JSON.stringify(activation), headers };
      expect((await fetch(new URL(accounts, world.system.url), patch)).status).toBe(202);
      const shown = await fetch(new URL(`${served}/edge`, world.system.url), { headers });
      expect(await shown.json()).toMatchObject({ status: 'ACTIVATING', permissions });
    },
    testMs,
  );
});
