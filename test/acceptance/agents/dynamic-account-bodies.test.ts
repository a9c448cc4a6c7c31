import { describe, expect, it } from 'vitest';
import { createTokenSigner, toAgentAccount } from '../../support/agents/agent-process.ts';
import { startWorld } from '../../support/agents/agent-world.ts';
import { createCaller, paths, readStatus, toAgent } from '../../support/services/dynamic-accounts.ts';

const testMs = 120_000;
const { accounts, dynamic, served } = paths;

describe('accounts of agents', () => {
  it(
    'are as they were after a body of no use, which names what is wrong',
    async () => {
      const signer = await createTokenSigner();
      const agent = toAgent(signer);
      const configured = { name: 'direct', kubeconfigFile: 'none', serviceAccount: false };
      await using world = await startWorld([configured, toAgentAccount('settled', signer)]);
      const call = createCaller(world.system.url);
      const stored = { type: 'kubernetes', name: 'reached', kubeconfigSecret: 'clusters/reached' };
      expect((await call('POST', '/credentials', stored))[0]).toBe(200);
      expect(await call('POST', dynamic, { name: 'edge', agent })).toEqual([202, []]);
      const before = await call('GET', '/credentials');
      const good = { name: 'good', agent };
      const own = 'expected nothing: the file of the agent says how it reaches the cluster';
      const many = Array.from({ length: 101 }, (_, index) => ({ name: `a${index}`, agent }));
      const cases: readonly (readonly [string, string, object | undefined, number, string])[] = [
        ['POST', dynamic, undefined, 400, 'The request must have a body in JSON'],
        ['POST', dynamic, [], 400, 'The body must be a list of one account at least'],
        ['POST', dynamic, many, 400, 'The list has 101 accounts: at most 100 are accepted'],
        ['POST', dynamic, [good, 'edge'], 400, '[1]: expected an object, the account'],
        [
          'POST',
          dynamic,
          [good, { name: 'a' }],
          400,
          '[1].agent: expected an object, which says whose proof',
        ],
        ['POST', dynamic, [good, { name: 'a/b', agent }], 400, '[1].name: expected 1 to 253 letters'],
        [
          'POST',
          dynamic,
          [good, { ...good, name: 'GOOD' }],
          400,
          '[1].name: the list has GOOD more than once',
        ],
        ['POST', dynamic, [good, { name: 'a', agent: { auth: {} } }], 400, '[1].agent.auth'],
        [
          'POST',
          dynamic,
          [good, { name: 'a', agent, kubeconfigContents: 'k' }],
          400,
          `[1].kubeconfigContents: ${own}`,
        ],
        [
          'POST',
          dynamic,
          [good, { name: 'a', agent, kubeconfigFile: '/k' }],
          400,
          `[1].kubeconfigFile: ${own}`,
        ],
        [
          'POST',
          dynamic,
          [good, { name: 'a', agent, serviceAccount: true }],
          400,
          `[1].serviceAccount: ${own}`,
        ],
        [
          'POST',
          dynamic,
          [good, { name: 'a', agent, context: 'c' }],
          400,
          '[1].context: expected nothing beside agent',
        ],
        ['POST', dynamic, [good, { name: 'a', agent, permission: {} }], 400, '[1].permission: unknown'],
        ['POST', dynamic, [good, { name: 'a', agent, state: 'ACTIVE' }], 400, '[1].state: expected INACTIVE'],
        ['POST', dynamic, [good, { name: 'a', agent, zoneId: 7 }], 400, '[1].zoneId: expected a text'],
        [
          'POST',
          dynamic,
          [good, { name: 'a', agent, type: 'dockerRegistry' }],
          400,
          '[1].type: expected one of kubernetes',
        ],
        ['POST', dynamic, { name: 'a' }, 400, 'agent: expected an object, which says whose proof'],
        ['POST', dynamic, { ...good, environment: 'x'.repeat(262_144) }, 413, 'at most 262144'],
        ['PUT', dynamic, undefined, 400, 'The request must have a body in JSON'],
        ['PUT', dynamic, [good], 400, 'The body must be an object, the account'],
        ['PUT', dynamic, { agent }, 400, 'name: expected a text'],
        ['PUT', dynamic, { name: 'none' }, 400, 'Cannot update an account which does not exist (name: none)'],
        [
          'PUT',
          dynamic,
          { name: 'reached' },
          400,
          'Account reached has no agents: its cluster is reached from here',
        ],
        ['PUT', dynamic, { name: 'edge', kubeconfigAgent: 'k' }, 400, `kubeconfigAgent: ${own}`],
        ['PUT', dynamic, { name: 'edge', agent: { auth: {} } }, 400, 'agent.auth'],
        ['POST', accounts, {}, 400, 'The body must be a list of one account at least'],
        ['POST', accounts, [{ name: 'none', agent }], 400, '[0]: No account found with name none'],
        [
          'POST',
          accounts,
          [{ name: 'reached' }],
          400,
          '[0].agent: expected an object, which says whose proof',
        ],
        ['POST', accounts, [{ name: 'reached', agent: 'x' }], 400, '[0].agent: expected an object'],
        ['POST', accounts, [{ name: 'direct', agent }], 400, '[0]: The account direct stands in'],
        [
          ...([
            'POST',
            accounts,
            [
              { name: 'reached', agent },
              { name: 'none', agent },
            ],
            400,
          ] as const),
          '[1]: No account found with name none',
        ],
        ['PATCH', accounts, [], 400, 'The body must be a list of one account at least'],
        ['PATCH', accounts, [{ name: 'edge' }], 400, '[0].state: expected ACTIVE or INACTIVE'],
        [
          'PATCH',
          accounts,
          [{ name: 'edge', state: 'FAILED' }],
          400,
          '[0].state: expected ACTIVE or INACTIVE',
        ],
        [
          ...(['PATCH', accounts, [{ name: 'edge', state: 'ACTIVE', kubeconfigFile: 'x' }], 400] as const),
          `[0].kubeconfigFile: ${own}`,
        ],
        [
          ...([
            'PATCH',
            accounts,
            [
              { name: 'edge', state: 'ACTIVE' },
              { name: 'none', state: 'ACTIVE' },
            ],
            400,
          ] as const),
          '[1]: No account found with name none',
        ],
        [
          ...([
            'PATCH',
            accounts,
            [
              { name: 'edge', state: 'ACTIVE' },
              { name: 'direct', state: 'ACTIVE' },
            ],
            400,
          ] as const),
          '[1]: Account direct has no agents',
        ],
        ['DELETE', accounts, undefined, 400, 'The request must have a body in JSON'],
        ['DELETE', accounts, ['edge', 7], 400, '[1]: expected a text'],
        ['DELETE', accounts, ['edge', 'edge'], 400, '[1].name: the list has edge more than once'],
        ['DELETE', accounts, ['edge', 'none'], 400, '[1]: No account found with name none'],
        ['DELETE', accounts, ['edge', 'reached'], 400, '[1]: Account reached has no agents'],
        ['DELETE', accounts, ['edge', 'settled'], 400, '[1]: The account settled stands in'],
        ['DELETE', `${accounts}/reached`, undefined, 404, 'Account reached has no agents'],
        ['DELETE', `${accounts}/none`, undefined, 404, 'No account found with name none'],
        ['GET', `${accounts}/none`, undefined, 404, 'No account found with name none'],
        ['GET', `${accounts}/reached`, undefined, 404, 'Account reached has no agents'],
        ['GET', `${served}/direct`, undefined, 404, 'Account direct has no agents'],
        ['GET', `${served}/none/namespaces`, undefined, 404, 'No account found with name none'],
      ];
      for (const [method, target, body, status, words] of cases) {
        const [answered, content] = await call(method, target, body);
        expect([method, target, JSON.stringify(body)?.slice(0, 90), answered, String(content)]).toEqual([
          ...[method, target, JSON.stringify(body)?.slice(0, 90), status, expect.stringContaining(words)],
        ]);
      }
      expect(await call('GET', '/credentials')).toEqual(before);
      expect(await readStatus(world.system.url, 'edge')).toBe('INACTIVE');
      expect(await readStatus(world.system.url, 'settled')).toBe('ACTIVATING');
    },
    testMs,
  );
});
