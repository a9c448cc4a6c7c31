import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { parseKubernetesSettings } from '#providers/kubernetes/account/account-settings.ts';
import { listPullSecrets } from '#providers/kubernetes/account/v1-rules.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { toSet } from '#test/support/providers/provider-set.ts';
import { openProvider } from '../provider-setup.ts';

const hub = { accountName: 'hub' };

function parse(...accounts: JsonObject[]) {
  return parseKubernetesAccounts({ kubernetes: { accounts } });
}

function parseOne(fields: JsonObject) {
  const { accounts, rejected } = parse({ name: 'old', providerVersion: 'v1', ...fields });
  expect(rejected).toEqual([]);
  const [account] = accounts;
  if (account?.v1 === undefined) throw new Error('no V1 account');
  return { ...account, v1: account.v1 };
}

describe('a V1 account', () => {
  test('is one only where that is written', () => {
    const { accounts } = parse(
      { name: 'a' },
      { name: 'b', providerVersion: 'V2' },
      { name: 'c', 'provider-version': 'V1', dockerRegistries: [hub] },
    );
    expect(accounts.map(({ v1 }) => v1 !== undefined)).toEqual([false, false, true]);
    expect(accounts.map(({ details }) => details['skin'])).toEqual(['v2', 'v2', 'v1']);
  });

  test('gets no password of a registry where an API made it, unless such accounts may use what the machine has', () => {
    const stored = {
      ...{ name: 'own', providerVersion: 'v1', namespaces: ['shop'], dockerRegistries: [hub] },
      kubeconfigContents: '{}',
    };
    const given = { stored: [stored, { ...stored, name: 'plain', configureImagePullSecrets: false }] };
    const { accounts, rejected } = parseKubernetesAccounts({}, { accounts: given });
    expect(accounts.map(({ name }) => name)).toEqual(['plain']);
    expect(rejected).toEqual([
      {
        name: 'own',
        reason: expect.stringMatching(
          /^stored account "own"[.]configureImagePullSecrets: expected false: .*[.]allowMachineAccess is true$/,
        ),
      },
    ]);
    const trusting = { busdriver: { accounts: { allowMachineAccess: true } } };
    expect(parseKubernetesAccounts(trusting, { accounts: given }).rejected).toEqual([]);
  });

  test('is told nothing at load of kinds that live in no namespace: it uses none', () => {
    const old = { name: 'old', providerVersion: 'v1', namespaces: ['shop'] };
    const { warnings } = parse({ ...old, dockerRegistries: [hub] });
    expect(warnings).toEqual([]);
  });

  test('is probably meant where registries are named without its version: a warning says what to do', () => {
    const accounts = [
      { name: 'old' },
      { name: 'new', providerVersion: 'v2' },
      { name: 'v1', providerVersion: 'v1' },
    ];
    const { warnings } = parse(...accounts.map((account) => ({ ...account, dockerRegistries: [hub] })));
    const told = (index: number) =>
      expect.stringMatching(
        new RegExp(
          `^kubernetes\\.accounts\\[${index}\\]\\.dockerRegistries: of no effect without providerVersion v1: set that `,
        ),
      );
    expect(warnings).toEqual([
      { message: 'setting of no effect', account: 'old', reason: told(0) },
      { message: 'setting of no effect', account: 'new', reason: told(1) },
    ]);
    expect(parse({ name: 'new', dockerRegistries: [] }).warnings).toEqual([]);
  });

  test('shows its registries, and in which namespaces they are', () => {
    const dockerRegistries = [hub, { accountName: 'quay', namespaces: ['pay'] }];
    expect(parseOne({ namespaces: ['shop', 'pay'], dockerRegistries }).details).toMatchObject({
      providerVersion: 'v1',
      skin: 'v1',
      namespaces: ['shop', 'pay'],
      dockerRegistries: [
        { accountName: 'hub', namespaces: ['shop', 'pay'] },
        { accountName: 'quay', namespaces: ['pay'] },
      ],
    });
  });

  test('gives its pods every pull secret of their namespace, by name', () => {
    const dockerRegistries = [{ accountName: 'z' }, hub, { accountName: 'pay', namespaces: ['pay'] }];
    const { v1 } = parseOne({ dockerRegistries });
    expect(listPullSecrets(v1, 'shop')).toEqual(['hub', 'z']);
    expect(listPullSecrets(v1, 'pay')).toEqual(['hub', 'pay', 'z']);
    const without = parseOne({ dockerRegistries, configureImagePullSecrets: false });
    expect(listPullSecrets(without.v1, 'shop')).toEqual([]);
  });

  test('uses all namespaces only where that is written, and no kind that lives in none', () => {
    expect(parseOne({ dockerRegistries: [hub], namespaces: ['*'] })).toMatchObject({
      namespaces: [],
      clusterScopedKinds: false,
      v1: { usesAllNamespaces: true },
    });
    expect(parseOne({ dockerRegistries: [hub], clusterScopedKinds: true })).toMatchObject({
      clusterScopedKinds: false,
      v1: { usesAllNamespaces: false },
    });
  });

  test.each<readonly [JsonObject, string]>([
    [{}, 'dockerRegistries: Docker registries for Kubernetes account old are required'],
    [{ dockerRegistries: [] }, 'dockerRegistries: Docker registries for Kubernetes account old are required'],
    [
      { dockerRegistries: [{}] },
      "dockerRegistries[0].accountName: expected the name of a registry's account",
    ],
    [
      { dockerRegistries: [hub], namespaces: ['*', 'shop'] },
      'namespaces: expected nothing beside "*", which stands for all',
    ],
    [
      { dockerRegistries: [hub], namespaces: ['shop'], omitNamespaces: ['pay'] },
      'namespaces: expected to be empty where omitNamespaces is set',
    ],
    [
      { dockerRegistries: [hub], serverGroupKind: 'Deployment' },
      'serverGroupKind: expected one of ReplicaSet, ReplicationController',
    ],
    [{ providerVersion: 'v3', dockerRegistries: [hub] }, 'providerVersion: expected v1 or v2'],
  ])('%j is left out alone', (fields, reason) => {
    const { accounts, rejected } = parse({ name: 'old', providerVersion: 'v1', ...fields }, { name: 'b' });
    expect(accounts.map(({ name }) => name)).toEqual(['b']);
    expect(rejected).toEqual([{ name: 'old', reason: `kubernetes.accounts[0].${reason}` }]);
  });

  test('is the same account in the public settings', async () => {
    const entry = { name: 'old', providerVersion: 'v1', namespaces: ['*'], dockerRegistries: [hub] };
    await using provider = openProvider([entry]);
    const settings = { kubernetes: { accounts: [entry] } };
    const { accounts } = parseKubernetesAccounts(
      kubernetesPlugin.toPublicSettings(settings, toSet(provider)),
    );
    expect(accounts.map(({ v1, details }) => ({ v1, details }))).toEqual(
      parse(entry).accounts.map(({ v1, details }) => ({ v1, details })),
    );
  });

  test.each(['ReplicationController', 'replication-controller', 'REPLICATION_CONTROLLER'])(
    'makes what the setting %s says where it says nothing itself',
    (kind) => {
      const settings = parseKubernetesSettings({ kubernetes: { v1: { serverGroupKind: kind } } });
      expect(settings.v1ServerGroupKind).toBe('ReplicationController');
    },
  );

  test('names a setting that is wrong by its path', () => {
    expect(() => parseKubernetesSettings({ kubernetes: { v1: { serverGroupKind: 'Pod' } } })).toThrow(
      'kubernetes.v1.server-group-kind: expected one of ReplicaSet, ReplicationController',
    );
  });
});
