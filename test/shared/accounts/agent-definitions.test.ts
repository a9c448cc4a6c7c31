import { describe, expect, it } from 'vitest';
import {
  checkNoCredentials,
  hasAgent,
  parseAgentDefinition,
  toAgentDefinition,
} from '#accounts/agent-definitions.ts';
import { plugins } from '#providers/index.ts';

const agent = { auth: { subject: 'system:serviceaccount:busdriver:agent' } };
const missing = 'agent: expected an object, which says whose proof the account takes';

describe('parseAgentDefinition', () => {
  it('is of the provider that has agents, and leaves out what is no part of a definition', () => {
    const body = { name: 'edge', zoneId: 'z', state: 'INACTIVE', 'zone-id': 'z', namespaces: ['a'], agent };
    expect(parseAgentDefinition(body, plugins)).toEqual({
      ...{ name: 'edge', type: 'kubernetes' },
      body: { type: 'kubernetes', name: 'edge', namespaces: ['a'], agent },
    });
  });

  it('keeps whose proof was taken where the body says nothing of it', () => {
    const before = { body: { name: 'edge', agent } };
    const kept = (body: object) =>
      parseAgentDefinition({ name: 'edge', ...body }, plugins, before).body['agent'];
    const all = [kept({}), kept({ agent: null }), kept({ agent: { auth: {} } })];
    expect(all).toEqual([agent, agent, { auth: {} }]);
  });

  it.each([
    ['no agent', { name: 'a' }, missing],
    ['an agent that is none', { name: 'a', agent: 'yes' }, missing],
    [
      'a type without agents',
      { name: 'a', type: 'dockerRegistry', agent },
      'type: expected one of kubernetes',
    ],
    ['a type that nobody has', { name: 'a', type: 'x', agent }, 'type: expected one of'],
    ['no name', { agent }, 'name: expected 1 to 253 letters'],
    [
      'a kubeconfig',
      { name: 'a', 'kube-config-contents': 'x', agent },
      'kubeconfigContents: expected nothing',
    ],
  ])('refuses %s', (_what, body, words) => {
    expect(() => parseAgentDefinition(body, plugins)).toThrow(words);
  });
});

describe('checkNoCredentials', () => {
  it('names every option by which an agent would be given credentials, whatever it holds', () => {
    const body = {
      ...{ kubeconfigFile: '/x', kubeconfigContents: [], kubeconfigAgent: 'encryptedFile:…' },
      serviceAccount: true,
    };
    const nothing = { kubeconfigFile: '', kubeconfigContents: null, serviceAccount: false };
    expect(() => checkNoCredentials(nothing, plugins)).not.toThrow();
    for (const name of Object.keys(body))
      expect(() => checkNoCredentials(body, plugins)).toThrow(`${name}: expected`);
  });
});

describe('toAgentDefinition', () => {
  const before = {
    ...{ name: 'one', type: 'kubernetes' },
    body: {
      ...{ type: 'kubernetes', name: 'one', namespaces: ['a'], 'kubeconfig-secret': 'clusters/one' },
      ...{ context: 'c', permissions: { READ: ['a'] } },
    },
  };

  it('leaves out how the cluster was reached, and nothing else', () => {
    const { body, ...rest } = toAgentDefinition(before, agent, plugins);
    const { 'kubeconfig-secret': _secret, context: _context, ...kept } = before.body;
    expect([rest, body]).toEqual([
      { name: 'one', type: 'kubernetes' },
      { ...kept, agent },
    ]);
    expect([hasAgent(before), hasAgent({ body })]).toEqual([false, true]);
  });

  it('refuses one of whose agents nothing is said, and one whose provider has none', () => {
    expect(() => toAgentDefinition(before, undefined, plugins)).toThrow(missing);
    const registry = { ...before, type: 'dockerRegistry' };
    const toRegistry = () => toAgentDefinition(registry, agent, plugins);
    expect(toRegistry).toThrow('name: expected an account of kubernetes');
  });
});
