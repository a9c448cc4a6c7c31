import { afterEach, describe, expect, it } from 'vitest';
import { formatAccountFacts, parseAccountFacts, toAccountFacts } from '#accounts/account-facts.ts';
import { toCredentialsView } from '#accounts/credentials-view.ts';
import type { JsonObject } from '#core/json.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { plugins } from '#providers/index.ts';
import { accountOptions } from '#providers/kubernetes/account/account-fields.ts';
import { publicAccountOptions } from '#providers/kubernetes/account/public-settings.ts';
import { createTestOptions } from '#test/shared/providers/artifacts/options.ts';

const planted = 'planted-s3cr3t';

const kubeconfig = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'one',
  clusters: [{ name: 'one', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'one', user: { token: planted } }],
  contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
});

/** An account with each option that views, lists and operations look at. */
const rich: JsonObject = {
  name: 'rich',
  environment: 'staging',
  accountType: 'cluster',
  namespaces: ['shop', 'blog'],
  kinds: ['deployment', 'widgets.example.com'],
  customResources: [{ kubernetesKind: 'widgets.example.com', versioned: true, password: planted }],
  cachingPolicies: [{ kubernetesKind: 'event', maxEntriesPerAgent: 7, token: planted }],
  cacheThreads: 3,
  cacheIntervalSeconds: 45,
  cacheMode: 'stream',
  readiness: 'kstatus',
  rawResourcesEndpointConfig: { kindExpressions: ['^deployment$'], secret: planted },
  onlySpinnakerManaged: true,
  permissions: { READ: ['team'], WRITE: ['leads'] },
};

/** Secrets wherever an account, a provider or anything else of a configuration may have some. */
const settings: JsonObject = {
  kubernetes: {
    'verify-account-health': false,
    v2: { applyAppLabels: false, token: planted },
    cache: { cacheOmitKinds: ['event'] },
    accounts: [
      { ...rich, kubeconfigContents: kubeconfig },
      { name: 'plain', kubeconfigContents: kubeconfig, password: planted, oauth: { token: planted } },
      { name: 'file', kubeconfigFile: `/home/${planted}` },
      { name: 'secret', kubeconfigSecret: planted, context: planted },
      {
        name: 'eks',
        eks: { cluster: planted, roleArn: 'arn:aws:iam::111122223333:role/r', externalId: planted },
      },
      { name: 'inside', serviceAccount: true },
      { name: 'old', 'required-group-membership': ['admins'], kubeconfigContents: kubeconfig },
      { name: 'old', kubeconfigContents: kubeconfig },
      { name: 'broken', cacheThreads: planted, requiredGroupMembership: ['admins'] },
      { name: 'broken', kubeconfigContents: kubeconfig },
    ],
  },
  artifacts: {
    github: { enabled: true, accounts: [{ name: 'hub', token: planted }] },
    http: {
      enabled: true,
      accounts: [
        { name: 'web', username: planted, password: planted, urlRestrictions: { allowedDomains: [planted] } },
      ],
    },
  },
  services: {
    front50: { baseUrl: 'http://front50:8080', password: planted },
    fiat: { enabled: false, baseUrl: `http://user:${planted}@fiat:7003`, token: planted },
    redis: { baseUrl: `redis://:${planted}@redis` },
  },
  busdriver: {
    ...{ authorization: { reads: 'off', key: planted }, signingKey: planted },
    checkApplication: 'enforce',
  },
  credentials: { primaryAccountTypes: ['cluster'], token: planted },
  sql: { agent: { poll: { intervalSeconds: 60 } }, connectionPool: { password: planted } },
  password: planted,
};

const opened: ProviderSet[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((set) => set[Symbol.asyncDispose]()));
});

function open(
  from: JsonObject,
  credentials: 'given' | 'withheld',
  stored: readonly JsonObject[] = [],
): ProviderSet {
  const options = createTestOptions(from, { credentials, placement: 'deployed' });
  const set = new ProviderSet(
    plugins.map((plugin) =>
      plugin.open({ ...options, accounts: { stored: stored.filter(({ type }) => type === plugin.name) } }),
    ),
  );
  opened.push(set);
  return set;
}

/** The facts of settings, as another function reads them. */
function publish(from: JsonObject) {
  const text = formatAccountFacts(
    toAccountFacts(plugins, { settings: from, providers: open(from, 'given'), storedAccounts: [] }),
  );
  return { text, facts: parseAccountFacts(text) };
}

describe('account facts', () => {
  it('hold no secret, wherever there is one', () => {
    expect(publish(settings).text).not.toContain(planted);
  });

  it('show accounts as they are', () => {
    const { facts } = publish(settings);
    const options = { primaryAccountTypes: [], challengeDestructiveActionsEnvironments: [], expand: true };
    const list = (set: ProviderSet) => set.accounts.map((account) => toCredentialsView(account, options));
    const known = open(facts.settings, 'withheld');

    expect(list(known)).toEqual(list(open(settings, 'given')));
    expect(known.accounts.map(({ name }) => name)).toEqual([
      ...['eks', 'file', 'inside', 'old', 'plain', 'rich', 'secret'],
    ]);
    expect(known.getAccount('old').requiredGroupMembership).toEqual(['admins']);
    expect(known.rejectedAccounts).toEqual([]);
  });

  it('hold accounts that an API made, whatever their provider', () => {
    const own = { type: 'dockerRegistry', name: 'own', address: 'https://own.test', password: planted };
    const storedAccounts = [{ name: 'own', type: 'dockerRegistry', body: own }];
    const providers = open({}, 'given', [own]);
    const { settings } = toAccountFacts(plugins, { settings: {}, providers, storedAccounts });
    expect(JSON.stringify(settings)).not.toContain(planted);
    expect(open(settings, 'withheld').getAccount('own')).toMatchObject({
      ...{ cloudProvider: 'dockerRegistry', details: { address: 'https://own.test' } },
    });
  });

  it('tell what operations and views look at', () => {
    const { facts } = publish(settings);
    const describeAccount = (set: ProviderSet) => {
      const { connection: _, kindRegistry: __, ...rest } = Object(set.getAccount('rich'));
      return rest;
    };

    expect(describeAccount(open(facts.settings, 'withheld'))).toEqual(
      describeAccount(open(settings, 'given')),
    );
    expect(facts.settings).toMatchObject({
      kubernetes: { v2: { 'apply-app-labels': false }, cache: { cacheOmitKinds: ['event'] } },
      services: { front50: { baseUrl: 'http://front50:8080/' }, fiat: { enabled: false } },
      busdriver: { authorization: { reads: 'off' }, checkApplication: 'enforce' },
      credentials: { primaryAccountTypes: ['cluster'] },
      sql: { agent: { poll: { intervalSeconds: 60 } } },
    });
  });

  it('list artifact accounts, which fetch nothing', async () => {
    const { facts } = publish(settings);
    const known = open(facts.settings, 'withheld').findArtifactFetcher();

    expect(known?.accounts).toEqual(open(settings, 'given').findArtifactFetcher()?.accounts);
    expect(known?.accounts.map(({ name }) => name)).toEqual(expect.arrayContaining(['hub', 'web']));
    const artifact = { artifactAccount: 'web', type: 'http/file', reference: 'http://127.0.0.1:1/x' };
    await expect(known?.fetch(artifact, new AbortController().signal)).rejects.toThrow(
      'this function has no credentials of artifact account web',
    );
  });

  it('reach no cluster, not even with the credentials of the process', async () => {
    const known = open(publish(settings).facts.settings, 'withheld');
    for (const { name } of known.accounts) {
      const reader = await known.getLiveReader(name, 'manifests');
      const read = reader.getManifest({
        ...{ account: name, location: 'shop', name: 'configMap settings' },
        ...{ includeEvents: false, revealSecrets: false },
      });
      await expect(read).rejects.toThrow(`this function has no credentials of account ${name}`);
    }
  });

  it('never open an account by leaving out the one before it', () => {
    const { facts } = publish(settings);
    expect(open(facts.settings, 'withheld').findAccount('broken')).toBeUndefined();
    expect(facts.rejectedAccounts.map(({ name }) => name)).toEqual(['old', 'broken', 'broken']);
    expect(facts.rejectedAccounts[1]?.reason).toContain('kubernetes.accounts[8].cacheThreads: expected');
  });

  it('leave out the accounts of a provider that is switched off', () => {
    const off = { kubernetes: { enabled: false, accounts: [{ name: 'one' }] } };
    expect(open(publish(off).facts.settings, 'withheld').accounts).toEqual([]);
  });

  it('are refused when they are something else', () => {
    expect(() => parseAccountFacts('{"accounts":[]}')).toThrow('expected an object with settings');
  });
});

describe('options of Kubernetes accounts', () => {
  it('each say whether they are public', () => {
    expect(Object.keys(publicAccountOptions).sort()).toEqual([...accountOptions.known].sort());
  });
});
