import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { readManifest, toSet } from '#test/support/providers/provider-set.ts';
import { rejected } from '#test/support/providers/rejected-accounts.ts';
import { createTestOptions } from '../../artifacts/options.ts';

const key = { kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'one' };
const auth = {
  issuer: 'https://kubernetes.default.svc',
  subject: 'system:serviceaccount:b:agent',
  jwks: { keys: [key] },
};

const agent = { auth };

function toSettings(account: JsonObject, agents: JsonObject = { enabled: true }): JsonObject {
  return { busdriver: { agents }, kubernetes: { accounts: [{ name: 'edge', ...account }] } };
}

function reasonOf(account: JsonObject, agents?: JsonObject): string | undefined {
  return parseKubernetesAccounts(toSettings(account, agents)).rejected[0]?.reason;
}

describe('an account that only its agents reach', () => {
  it('says by what they are known, and for how long operations wait', () => {
    const { accounts } = parseKubernetesAccounts(toSettings({ agent }, { enabled: true, waitSeconds: 7 }));
    expect(accounts[0]?.agentHome).toEqual({
      auth: {
        ...{ type: 'serviceAccount', issuer: auth.issuer, subject: auth.subject },
        keys: { keys: [key] },
      },
      waitSeconds: 7,
      minReplicas: 1,
    });
    const text = { ...auth, jwks: JSON.stringify(auth.jwks) };
    const own = parseKubernetesAccounts(toSettings({ agent: { auth: text, waitSeconds: '9' } })).accounts[0];
    expect(own?.agentHome).toMatchObject({ auth: { keys: { keys: [key] } }, waitSeconds: 9 });
  });

  it.each<[JsonObject]>([
    [{ type: 'certificate', subjects: ['CN=edge-7,O=Acme', String.raw`CN=a\, b+OU=c`] }],
    [
      {
        type: 'iam',
        roleArns: ['arn:aws:iam::111122223333:role/path/to/edge-7', 'arn:aws-cn:iam::111122223333:role/e'],
      },
    ],
  ])('may ask for another proof: %j', (other) => {
    const { accounts } = parseKubernetesAccounts(toSettings({ agent: { auth: other } }));
    expect(accounts[0]?.agentHome?.auth).toEqual(other);
  });

  it('is left out where agents were to make accounts themselves', () => {
    const agents = { enabled: true, selfRegistration: { patterns: ['edge-.*'] } };
    expect(reasonOf({ agent }, agents)).toBe(
      'busdriver.agents.selfRegistration.patterns: expected [], for agents make no accounts: ' +
        'busdriver agent enroll stores one, and so do the settings and PUT /credentials',
    );
    expect(reasonOf({ agent }, { ...agents, selfRegistration: { patterns: [] } })).toBeUndefined();
  });

  it('is neither called from here nor cached by workers, whatever kubeconfig there is', async () => {
    const options = createTestOptions(toSettings({ agent }));
    await using provider = kubernetesPlugin.open({
      ...options,
      placement: 'local',
      environment: { KUBECONFIG: '/nowhere' },
    });
    expect(toSet(provider).accounts.map(({ name }) => name)).toEqual(['edge']);
    // Views know that it is kept cached; workers of ours leave that alone.
    const agents = await toSet(provider).loadCachingAgents();
    expect(agents.map(({ account, isRemote }) => [account, isRemote])).toEqual([['edge', true]]);
    const reading = readManifest(provider, {
      ...{ account: 'edge', location: 'default', name: 'configMap x' },
      includeEvents: false,
      revealSecrets: false,
    });
    await expect(reading).rejects.toThrow('Account edge is reached by its agent alone');
  });

  it.each<[string, JsonObject, string]>(rejected.agents)('is left out with %s', (_what, account, reason) => {
    expect(reasonOf(account)).toContain(`kubernetes.accounts[0].${reason}`);
  });

  it('is left out where agents are not served', () => {
    expect(reasonOf({ agent }, {})).toBe(
      'kubernetes.accounts[0].agent: agents are served where busdriver.agents.enabled is true',
    );
    const settings = toSettings({ agent });
    const deployed = parseKubernetesAccounts(settings, { placement: 'deployed' });
    expect(deployed.rejected[0]?.reason).toBe(
      'kubernetes.accounts[0].agent: agents are served by stacks that were deployed with agents=true',
    );
    const reached = parseKubernetesAccounts(settings, { placement: 'deployed', servesAgents: true });
    expect(reached.rejected).toEqual([]);
    expect(reached.accounts[0]?.agentHome).toBeDefined();
  });
});
