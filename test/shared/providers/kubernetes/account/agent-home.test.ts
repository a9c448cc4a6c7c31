import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../shared/core/json.ts';
import { parseKubernetesAccounts } from '../../../../../shared/providers/kubernetes/account/account.ts';
import { kubernetesPlugin } from '../../../../../shared/providers/kubernetes/index.ts';
import { createTestOptions } from '../../artifacts/options.ts';

const key = { kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'one' };
const auth = {
  issuer: 'https://kubernetes.default.svc',
  subject: 'system:serviceaccount:b:agent',
  jwks: { keys: [key] },
};

function toSettings(account: JsonObject, agents: JsonObject = { enabled: true }): JsonObject {
  return { busdriver: { agents }, kubernetes: { accounts: [{ name: 'edge', ...account }] } };
}

function reasonOf(account: JsonObject, agents?: JsonObject): string | undefined {
  return parseKubernetesAccounts(toSettings(account, agents)).rejected[0]?.reason;
}

describe('an account that only its agents reach', () => {
  it('says by what they are known, and for how long operations wait', () => {
    const { accounts } = parseKubernetesAccounts(
      toSettings({ agent: { auth } }, { enabled: true, waitSeconds: 7 }),
    );
    expect(accounts[0]?.agentHome).toEqual({
      issuer: auth.issuer,
      subject: auth.subject,
      keys: { keys: [key] },
      waitSeconds: 7,
      minReplicas: 1,
    });
    const text = { ...auth, jwks: JSON.stringify(auth.jwks) };
    const own = parseKubernetesAccounts(toSettings({ agent: { auth: text, waitSeconds: '9' } })).accounts[0];
    expect(own?.agentHome).toMatchObject({ keys: { keys: [key] }, waitSeconds: 9 });
  });

  it('is neither called from here nor cached by workers, whatever kubeconfig there is', async () => {
    const options = createTestOptions(toSettings({ agent: { auth } }));
    await using provider = kubernetesPlugin.open({
      ...options,
      placement: 'local',
      environment: { KUBECONFIG: '/nowhere' },
    });
    expect(provider.accounts.map(({ name }) => name)).toEqual(['edge']);
    // Views know that it is kept cached; workers of ours leave that alone.
    const agents = (await provider.loadCachingAgents?.()) ?? [];
    expect(agents.map(({ account, isRemote }) => [account, isRemote])).toEqual([['edge', true]]);
    const reading = provider.manifests?.getManifest({
      ...{ account: 'edge', location: 'default', name: 'configMap x' },
      includeEvents: false,
      revealSecrets: false,
    });
    await expect(reading).rejects.toThrow('Account edge is reached by its agent alone');
  });

  it.each<[string, JsonObject, string]>([
    ['no keys', { agent: { auth: { ...auth, jwks: null } } }, 'agent.auth: expected one of jwks and jwksUri'],
    [
      'keys and a place of keys',
      { agent: { auth: { ...auth, jwksUri: 'https://k.example' } } },
      'agent.auth: expected one of jwks and jwksUri',
    ],
    [
      'no key',
      { agent: { auth: { ...auth, jwks: { keys: [] } } } },
      "agent.auth.jwks: expected an object with a list of public keys in 'keys'",
    ],
    [
      'a secret key',
      { agent: { auth: { ...auth, jwks: { keys: [{ ...key, d: 'x' }] } } } },
      'agent.auth.jwks: expected public keys, got a secret one',
    ],
    [
      'a text that is no JSON',
      { agent: { auth: { ...auth, jwks: '{' } } },
      'agent.auth.jwks: expected an object, or the JSON text of one',
    ],
    [
      'a place without TLS',
      { agent: { auth: { ...auth, jwks: null, jwksUri: 'http://k.example' } } },
      'agent.auth.jwksUri: expected a URL that begins with https://',
    ],
    [
      'a place that is not allowed',
      { agent: { auth: { ...auth, jwks: null, jwksUri: 'https://k.example/keys' } } },
      'agent.auth.jwksUri: expected a host that busdriver.agents.jwksHosts names, not k.example',
    ],
    [
      'another proof',
      { agent: { auth: { ...auth, type: 'iam' } } },
      'agent.auth.type: expected serviceAccount, the only one there is',
    ],
    [
      'an empty subject',
      { agent: { auth: { ...auth, subject: ' ' } } },
      'agent.auth.subject: expected a text, got an empty string',
    ],
    ['no proof at all', { agent: {} }, 'agent.auth: expected a value, got none'],
    [
      'a kubeconfig',
      { agent: { auth }, kubeconfigFile: '/x' },
      'kubeconfigFile: expected nothing beside agent',
    ],
    [
      'the V1 provider',
      { agent: { auth }, providerVersion: 'v1' },
      'agent: accounts of the V1 provider have none',
    ],
    ['too short a time', { agent: { auth, waitSeconds: 0 } }, 'agent.waitSeconds: expected'],
  ])('is left out with %s', (_what, account, reason) => {
    expect(reasonOf(account)).toContain(`kubernetes.accounts[0].${reason}`);
  });

  it('is left out where agents are not served', () => {
    expect(reasonOf({ agent: { auth } }, {})).toBe(
      'kubernetes.accounts[0].agent: agents are served where busdriver.agents.enabled is true',
    );
    const settings = toSettings({ agent: { auth } });
    const deployed = parseKubernetesAccounts(settings, { placement: 'deployed' });
    expect(deployed.rejected[0]?.reason).toBe(
      'kubernetes.accounts[0].agent: agents are served by stacks that were deployed with agents=true',
    );
    const reached = parseKubernetesAccounts(settings, { placement: 'deployed', servesAgents: true });
    expect(reached.rejected).toEqual([]);
    expect(reached.accounts[0]?.agentHome).toBeDefined();
  });
});
