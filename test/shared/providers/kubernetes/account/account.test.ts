import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toCredentialsView } from '#accounts/credentials-view.ts';
import type { JsonObject } from '#core/json.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { parseKubernetesSettings } from '#providers/kubernetes/account/account-settings.ts';
import { loadSettings } from '#settings/live/settings.ts';
import { rejected } from '#test/support/providers/rejected-accounts.ts';

const secret = 'planted-token-0f7b';

function parse(...accounts: unknown[]) {
  return parseKubernetesAccounts({ kubernetes: { enabled: true, accounts } } as JsonObject);
}

/** The one account of a configuration that has only this one. */
function parseOne(account: JsonObject) {
  const { accounts, rejected } = parse({ name: 'a', ...account });
  expect(rejected).toEqual([]);
  const [first] = accounts;
  if (!first) throw new Error('no account');
  return first;
}

/** Why the one account of a configuration is rejected. */
function reasonOf(account: JsonObject): string | undefined {
  const { accounts, rejected } = parse({ name: 'a', ...account });
  expect(accounts).toEqual([]);
  return rejected[0]?.reason;
}

describe('an account', () => {
  test('has the defaults of Clouddriver', () => {
    expect(parseOne({})).toMatchObject({
      name: 'a',
      cloudProvider: 'kubernetes',
      environment: 'a',
      accountType: 'a',
      requiredGroupMembership: [],
      namespaces: [],
      omitNamespaces: [],
      customResources: [],
      metrics: true,
      connection: { name: 'a', serviceAccount: false },
      caching: {
        kinds: [],
        omitKinds: [],
        policies: [],
        allApplicationRelationships: false,
        rawResources: { kindExpressions: [], omitKindExpressions: [] },
        onlySpinnakerManaged: false,
      },
    });
    expect(parseOne({})).not.toHaveProperty('permissions');
  });

  test('has every setting in any spelling', () => {
    const account = parseOne({
      environment: 'prod',
      'account-type': 'eu',
      KUBECONFIG_FILE: '/k',
      kubeconfigContents: 'x',
      context: 'c',
      ...{ 'service-account': 'true', insecure: 'true', 'no-proxy': true },
      kubectlRequestTimeoutSeconds: '20',
      omitNamespaces: 'kube-system, kube-public',
      'omit-kinds': ['podPreset'],
      cacheThreads: 3,
      cacheIntervalSeconds: 60,
      'cache-mode': 'STREAM',
      onlySpinnakerManaged: true,
      metrics: false,
      caching_policies: [{ 'kubernetes-kind': 'replicaSet', maxEntriesPerAgent: 5 }],
      rawResourcesEndpointConfig: { 'omit-kind-expressions': ['^Event$'] },
      customResources: [
        { kubernetesKind: 'CronTab.stable.example.com', versioned: true, deployPriority: 30 },
      ],
      permissions: { read: ['Devs', 'Legacy'] },
      requiredGroupMembership: ['legacy'],
      'server-group-kind': 'replication-controller',
    });
    expect(account).toMatchObject({
      environment: 'prod',
      accountType: 'eu',
      connection: {
        kubeconfigFile: '/k',
        kubeconfigContents: 'x',
        context: 'c',
        ...{ serviceAccount: true, insecure: true, noProxy: true },
        requestTimeoutSeconds: 20,
      },
      omitNamespaces: ['kube-system', 'kube-public'],
      metrics: false,
      permissions: { READ: ['legacy'] },
      requiredGroupMembership: [],
      caching: {
        omitKinds: ['podPreset'],
        intervalSeconds: 60,
        mode: 'stream',
        onlySpinnakerManaged: true,
        policies: [{ kubernetesKind: 'replicaSet', maxEntriesPerAgent: 5 }],
        rawResources: { kindExpressions: [], omitKindExpressions: ['^Event$'] },
      },
    });
    expect(account.kindRegistry.find('CronTab.stable.example.com')).toMatchObject({
      deployPriority: 30,
      versioned: true,
    });
  });

  test('accepts what is no longer of use', () => {
    const dead = {
      providerVersion: 'V2',
      liveManifestCalls: true,
      dockerRegistries: [{ accountName: 'hub', namespaces: [] }],
      configureImagePullSecrets: true,
      skin: 'v2',
      oAuthScopes: [],
      oauthScopes: [],
      kubectlExecutable: 'kubectl-1.31',
      checkPermissionsOnStartup: false,
      debug: true,
    };
    expect(parseOne(dead).details).toMatchObject({ dockerRegistries: [] });
  });

  test('shows in the expanded view what Deck needs, and nothing else', () => {
    const view = toCredentialsView(
      parseOne({
        namespaces: ['shop'],
        cacheIntervalSeconds: 45,
        kubeconfigContents: `token: ${secret}`,
        customResources: [{ kubernetesKind: 'CronTab.stable.example.com', spinnakerKind: 'serverGroups' }],
      }),
      { expand: true, primaryAccountTypes: ['a'], challengeDestructiveActionsEnvironments: [] },
    );
    const { spinnakerKindMap, ...others } = view;
    expect(others).toEqual({
      name: 'a',
      type: 'kubernetes',
      cloudProvider: 'kubernetes',
      environment: 'a',
      accountType: 'a',
      requiredGroupMembership: [],
      enabled: true,
      cacheThreads: 1,
      cacheIntervalSeconds: 45,
      namespaces: ['shop'],
      ...{ providerVersion: 'v2', skin: 'v2', dockerRegistries: [] },
      challengeDestructiveActions: false,
      primaryAccount: true,
    });
    expect(spinnakerKindMap).toMatchObject({
      deployment: 'serverGroupManagers',
      pod: 'instances',
      'CronTab.stable.example.com': 'serverGroups',
    });
    expect(JSON.stringify(view)).not.toContain(secret);
  });
});

describe('a wrong account is rejected with its reason', () => {
  test.each(rejected.accounts)('%j', (account, reason) => {
    const wanted = `kubernetes.accounts[0].${reason}`;
    expect(reasonOf(account)?.slice(0, wanted.length)).toBe(wanted);
  });

  test('and does not stop the others', () => {
    const { accounts, rejected } = parse(
      ...['x', { name: 'a' }, { NAME: 'b', cacheThreads: {} }, null, { name: 'c' }, []],
    );
    expect(accounts.map(({ name }) => name)).toEqual(['a', 'c']);
    expect(rejected).toEqual([
      {
        name: 'kubernetes.accounts[0]',
        reason: 'kubernetes.accounts[0]: expected an object, got a string (not shown)',
      },
      {
        name: 'b',
        reason: 'kubernetes.accounts[2].cacheThreads: expected a whole number of at least 0, got an object',
      },
      { name: 'kubernetes.accounts[5]', reason: 'kubernetes.accounts[5]: expected an object, got a list' },
    ]);
  });

  test('of two with one name the first is taken', () => {
    const { accounts, rejected } = parse({ name: 'a', context: 'one' }, { name: 'a', context: 'two' });
    expect(accounts.map(({ connection }) => connection.context)).toEqual(['one']);
    expect(rejected).toEqual([
      { name: 'a', reason: 'kubernetes.accounts[1].name: an earlier account has this name' },
    ]);
  });

  test('even if the first is rejected, as the second may be open to more people', () => {
    const { accounts, rejected } = parse({ name: 'a', permissions: { RAED: ['sre'] } }, { NAME: 'a' });
    expect(accounts).toEqual([]);
    expect(rejected.map(({ name }) => name)).toEqual(['a', 'a']);
  });

  test('a reason never holds a secret', () => {
    const keys = Object.keys(parseOne({}).connection);
    for (const key of [...keys, 'permissions', 'namespaces', 'cacheThreads', 'customResources', 'metrics']) {
      const { rejected } = parse({ name: 'a', kubeconfigContents: secret, [key]: [[{ token: secret }]] });
      expect(JSON.stringify(rejected)).not.toContain(secret);
      const { rejected: asText } = parse({ name: 'a', [key]: `encrypted:${secret}` });
      expect(key === 'name' ? '' : JSON.stringify(asText)).not.toContain(secret);
    }
  });
});

describe('the list of accounts', () => {
  test.each([
    [{}],
    [{ kubernetes: null }],
    [{ kubernetes: { enabled: true } }],
    [{ kubernetes: { accounts: null } }],
    [{ kubernetes: { accounts: '' } }],
    [{ kubernetes: { enabled: false, accounts: [{ name: 'a' }, 3] } }],
  ])('%j is empty', (settings) => {
    expect(parseKubernetesAccounts(settings)).toEqual({ accounts: [], rejected: [], warnings: [] });
  });

  test('must be a list', () => {
    expect(() => parseKubernetesAccounts({ kubernetes: { accounts: { name: 'a' } } })).toThrow(
      'kubernetes.accounts: expected a list of accounts',
    );
  });

  test.each([
    ['spring', ['staging', 'production']],
    ['halyard/staging', ['spinnaker-ci']],
    ['halyard/config', ['blue-eu']],
    ['operator/spinnakerservice.yml', ['in-cluster', 'remote', 'nested']],
    ['kustomize/clouddriver-config.yml', ['from-secret']],
  ])('is read from %s', async (path, names) => {
    const files = [join(resolve('test/fixtures/config'), path)];
    const { settings } = await loadSettings({ files, profiles: ['local'], environment: {} });
    const { accounts, rejected } = parseKubernetesAccounts(settings);
    expect(rejected).toEqual([]);
    expect(accounts.map(({ name }) => name)).toEqual(names);
  });

  test('carries everything the file of a user says', async () => {
    const files = [resolve('test/fixtures/config/spring')];
    const { settings } = await loadSettings({ files, profiles: ['local'], environment: {} });
    expect(parseKubernetesAccounts(settings).accounts[0]).toMatchObject({
      name: 'staging',
      environment: 'stage',
      namespaces: ['shop', 'billing'],
      permissions: { READ: ['developers', 'sre'], WRITE: ['sre'] },
      connection: { kubeconfigFile: '/opt/spinnaker/kubeconfigs/stage-1' },
      caching: { onlySpinnakerManaged: true },
    });
    expect(parseKubernetesSettings(settings).applyAppLabels).toBe(false);
  });
});

describe('parseKubernetesSettings', () => {
  test('has the defaults of Clouddriver', () => {
    expect(parseKubernetesSettings({})).toEqual({
      enabled: true,
      cache: {
        enabled: true,
        cacheAll: false,
        cacheKinds: undefined,
        cacheOmitKinds: [],
        checkApplicationInFront50: false,
        streamedAccountsMax: 250,
      },
      applyAppLabels: true,
      managedBySuffix: '',
      dockerImageBinding: 'match-name-and-tag',
      detailedPodStatus: true,
      operationTimeoutMs: 600_000,
      ...{ v1ServerGroupKind: 'ReplicaSet', defaultRegistry: 'gcr.io' },
    });
  });

  test('reads every setting in any spelling', () => {
    expect(
      parseKubernetesSettings({
        kubernetes: {
          enabled: 'false',
          'load-namespaces-in-account': false,
          cache: { 'cache-kinds': 'deployment, pod', cacheOmitKinds: ['secret'], cacheAll: true },
          v2: { applyAppLabels: false, managedBySuffix: '-eu' },
          artifactBinding: { dockerImage: 'MATCH_NAME_ONLY' },
          jobs: { detailedPodStatus: false },
        },
        jobs: { local: { 'timeout-minutes': '3' } },
      }),
    ).toMatchObject({
      enabled: false,
      cache: { cacheKinds: ['deployment', 'pod'], cacheOmitKinds: ['secret'], cacheAll: true },
      applyAppLabels: false,
      managedBySuffix: '-eu',
      dockerImageBinding: 'match-name-only',
      detailedPodStatus: false,
      operationTimeoutMs: 180_000,
    });
  });

  test('names every setting that is wrong by its path', () => {
    expect(() =>
      parseKubernetesSettings({
        kubernetes: { enabled: 'ja', cache: { cacheKinds: {} } },
        jobs: { local: { timeoutMinutes: 0 } },
      }),
    ).toThrow(
      'kubernetes.enabled: expected true or false, got a string (not shown); ' +
        'kubernetes.cache.cacheKinds: expected a list, got an object; ' +
        'jobs.local.timeout-minutes: expected a whole number from 1 to 1440, got 0',
    );
    expect(() => parseKubernetesSettings({ kubernetes: { artifactBinding: { dockerImage: 'x' } } })).toThrow(
      'kubernetes.artifact-binding.docker-image: expected one of match-name-and-tag, match-name-only',
    );
  });
});

test('opening a thousand stored accounts after one of them changed reads that one alone', () => {
  const define = (name: string): JsonObject => ({ name, kubeconfigContents: '{}', namespaces: ['shop'] });
  const stored = Array.from({ length: 1_000 }, (_, index) => define(`account-${index}`));
  const before = parseKubernetesAccounts({}, { accounts: { stored } }).accounts;
  const changed = [...stored.slice(1), define('account-0')];
  const after = parseKubernetesAccounts({}, { accounts: { stored: changed } }).accounts;
  const known = new Set(before);
  expect(after.filter((account) => !known.has(account)).map(({ name }) => name)).toEqual(['account-0']);
});
