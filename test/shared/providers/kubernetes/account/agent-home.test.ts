import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { readManifest, toSet } from '#test/support/providers/provider-set.ts';
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

/** An account with this proof, and with this in the usual one. */
const only = (proof: JsonObject): JsonObject => ({ agent: { auth: proof } });
const by = (fields: JsonObject) => only({ ...auth, ...fields });

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

  it.each<[string, JsonObject, string]>([
    ['no keys', by({ jwks: null }), 'agent.auth: expected one of jwks and jwksUri'],
    [
      'keys and a place of keys',
      by({ jwksUri: 'https://k.example' }),
      'agent.auth: expected one of jwks and jwksUri',
    ],
    [
      'no key',
      by({ jwks: { keys: [] } }),
      "agent.auth.jwks: expected an object with a list of public keys in 'keys'",
    ],
    [
      'a secret key',
      by({ jwks: { keys: [{ ...key, d: 'x' }] } }),
      'agent.auth.jwks: expected public keys, got a secret one',
    ],
    [
      'text that is no JSON',
      by({ jwks: '{' }),
      'agent.auth.jwks: expected an object, or the JSON text of one',
    ],
    [
      'a place without TLS',
      by({ jwks: null, jwksUri: 'http://k.example' }),
      'agent.auth.jwksUri: expected a URL that begins with https://',
    ],
    [
      'a place that is not allowed',
      by({ jwks: null, jwksUri: 'https://k.example/keys' }),
      'agent.auth.jwksUri: expected a host that busdriver.agents.jwksHosts names, not k.example',
    ],
    [
      'a proof that nobody knows',
      by({ type: 'password' }),
      'agent.auth.type: expected one of serviceAccount, certificate, iam',
    ],
    ['no issuer', by({ issuer: null }), 'agent.auth.issuer: expected a value, got none'],
    ['fields of another proof', by({ type: 'iam' }), 'agent.auth.issuer: expected nothing with type iam'],
    [
      'subjects, and no type',
      only({ subjects: ['CN=edge'] }),
      'agent.auth.subjects: expected nothing with type serviceAccount',
    ],
    ['no subjects', only({ type: 'certificate' }), 'agent.auth.subjects: expected a list of 1 to 20'],
    [
      'no subject among them',
      only({ type: 'certificate', subjects: [] }),
      'agent.auth.subjects: expected a list of 1 to 20',
    ],
    [
      'a subject that is no list',
      only({ type: 'certificate', subjects: 'CN=edge,O=Acme' }),
      'agent.auth.subjects: expected a list, got a string',
    ],
    [
      'a subject that is none',
      only({ type: 'certificate', subjects: ['CN=edge', 'edge-7'] }),
      'agent.auth.subjects[1]: expected a distinguished name as RFC 2253 writes it',
    ],
    ['no roles', only({ type: 'iam' }), 'agent.auth.roleArns: expected a list of 1 to 20'],
    [
      'too many roles',
      only({ type: 'iam', roleArns: Array(21).fill('arn:aws:iam::111122223333:role/edge') }),
      'agent.auth.roleArns: expected a list of 1 to 20',
    ],
    [
      'a role of a session',
      only({ type: 'iam', roleArns: ['arn:aws:sts::111122223333:assumed-role/edge/one'] }),
      'agent.auth.roleArns[0]: expected the ARN of a role of IAM',
    ],
    ['an empty subject', by({ subject: ' ' }), 'agent.auth.subject: expected a text, got an empty string'],
    ['no proof at all', { agent: {} }, 'agent.auth: expected a value, got none'],
    ['a kubeconfig', { agent, kubeconfigFile: '/x' }, 'kubeconfigFile: expected nothing beside agent'],
    ['the V1 provider', { agent, providerVersion: 'v1' }, 'agent: accounts of the V1 provider have none'],
    ['too short a time', { agent: { auth, waitSeconds: 0 } }, 'agent.waitSeconds: expected'],
  ])('is left out with %s', (_what, account, reason) => {
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
