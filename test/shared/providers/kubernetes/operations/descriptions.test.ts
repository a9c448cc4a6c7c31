import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { createConfigMap, createManifest, createWorkload } from '../manifests.ts';
import { getOperation, listErrors, loadOperations, openProvider } from '../provider-setup.ts';

const provider = openProvider([
  { name: 'prod', kubeconfigContents: '{}', omitNamespaces: ['kube-system'] },
  { name: 'test', kubeconfigContents: '{}', namespaces: ['shop', 'staging'] },
]);
await loadOperations(provider);

const getErrors = (name: string, description: JsonObject) => listErrors(provider, name, description);

const moniker = { app: 'shop' };
const flags = createConfigMap('flags', {}, { namespace: 'shop' });

describe('accounts', () => {
  const rest = { manifestName: 'deployment web', location: 'shop', replicas: 1 };

  test.each([
    [{ account: 'test' }, 'test'],
    [{ credentials: 'test' }, 'test'],
    [{ account: '', credentials: 'test' }, 'test'],
    [{ account: null, credentials: 'test' }, 'test'],
    [{ account: 'test', credentials: 'other' }, 'test'],
  ])('%j names %s', (fields, account) => {
    expect(getOperation(provider, 'scaleManifest').prepare({ ...fields, ...rest }).account).toBe(account);
  });

  test.each([
    [{}, 'scaleKubernetesManifest.scaleKubernetesManifest.account.empty'],
    [{ account: 'none' }, "scaleManifest: there is no Kubernetes account 'none'; there are: prod, test"],
    [{ account: ['test'] }, 'scaleManifest: account: expected a string, got a list'],
  ])('%j is refused', (fields, error) => {
    expect(getErrors('scaleManifest', { ...fields, ...rest })).toEqual([error]);
  });

  test('an operation tells its class and phase', () => {
    const prepared = getOperation(provider, 'scaleManifest').prepare({ account: 'test', ...rest });
    expect(prepared.operationClass).toBe('KubernetesScaleManifestOperation');
    expect(prepared.phase).toBe('SCALE_KUBERNETES_MANIFEST');
  });
});

describe('deployManifest', () => {
  const context = 'deployKubernetesManifest.deployKubernetesManifest';
  const base = { account: 'test', moniker, manifests: [flags] };

  test.each<[string, JsonObject]>([
    ['scalars of other types', { versioned: 'true', enableTraffic: 0, moniker: { app: 7, sequence: '3' } }],
    ['nulls', { requiredArtifacts: null, services: null, strategy: null, namespaceOverride: null }],
    ['null manifests', { manifests: [null, flags] }],
    ['fields of stages that are none of ours', { trafficManagement: { enabled: true }, stageTimeoutMs: 5 }],
    ['a single manifest', { manifests: [], manifest: flags }],
    ['a single manifest alone', { manifests: null, manifest: flags }],
    ['no manifests at all', { manifests: [] }],
    ['an empty list', { manifests: [{ apiVersion: 'v1', kind: 'list' }] }],
    ['a namespace that may be used in place of one that may not', namespaceOverrideOf('staging', 'other')],
    ['no namespace', { manifests: [createConfigMap('flags', {})] }],
    ['a name that the server completes', { manifests: [{ ...flags, metadata: { generateName: 'flags-' } }] }],
  ])('accepts %s', (_what, fields) => {
    expect(getErrors('deployManifest', { ...base, ...fields })).toEqual([]);
  });

  test.each<[string, JsonObject, string | RegExp]>([
    ['no moniker', { moniker: null }, `${context}.moniker.empty`],
    ['a moniker without application', { moniker: { cluster: 'x' } }, `${context}.moniker.app.empty`],
    ['no place for manifests', { manifests: null }, `${context}.manifests.empty`],
    ['a manifest that is none', { manifests: ['x'] }, /^deployManifest: manifests\[0\]: expected an object/],
    [
      'a manifest without kind',
      { manifests: [flags, { ...flags, kind: '' }] },
      'deployManifest: manifests[1].kind: expected a string, got an empty string',
    ],
    [
      'a manifest without metadata',
      { manifests: [{ ...flags, metadata: null }] },
      'deployManifest: manifests[0].metadata: expected an object, got none',
    ],
    [
      'a manifest without name, in a list',
      { manifests: [flags, { kind: 'List', items: [null, { ...flags, metadata: {} }] }] },
      'deployManifest: manifests[1].items[1].metadata.name: expected a name or a generateName, got none',
    ],
    [
      'a foreign namespace',
      { manifests: [createConfigMap('a', {}, { namespace: 'x' })] },
      `${context}.x.wrongNamespace`,
    ],
    ['a foreign override', { namespaceOverride: 'x' }, `${context}.x.wrongNamespace`],
    [
      'a namespace that is left out',
      { account: 'prod', manifests: [createConfigMap('a', {}, { namespace: 'kube-system' })] },
      `${context}.kube-system.omittedNamespace`,
    ],
    [
      'a kind that only controllers make',
      { manifests: [createManifest('v1', 'Event', { name: 'e', namespace: 'shop' })] },
      /^event e cannot be deployed/,
    ],
    [
      'too short a history for the strategy',
      {
        strategy: 'BLUE_GREEN',
        manifests: [
          createWorkload('ReplicaSet', 'web', {
            namespace: 'shop',
            annotations: { 'strategy.spinnaker.io/max-version-history': '1' },
          }),
        ],
      },
      /max-version-history is 1.*BLUE_GREEN needs at least 2/,
    ],
    [
      'rules of readiness that there are not',
      { manifests: [createConfigMap('a', {}, { annotations: { 'busdriver.io/readiness': 'maybe' } })] },
      /configMap a: annotation busdriver.io\/readiness is "maybe": expected one of clouddriver, kstatus/,
    ],
    [
      'a strategy in small letters',
      { strategy: 'red_black' },
      /^deployManifest: strategy: expected one of RED_BLACK/,
    ],
    [
      'labels together with replace',
      {
        labelSelectors: { selectors: [{ kind: 'EXISTS', key: 'tier' }] },
        manifests: [
          createConfigMap(
            'a',
            {},
            { namespace: 'shop', annotations: { 'strategy.spinnaker.io/replace': 'true' } },
          ),
        ],
      },
      /^labelSelectors cannot be used with the strategy replace, which is that of configMap a$/,
    ],
  ])('refuses %s', (_what, fields, error) => {
    expect(getErrors('deployManifest', { ...base, ...fields })).toEqual([
      error instanceof RegExp ? expect.stringMatching(error) : error,
    ]);
  });

  test('tells everything that is wrong at once', () => {
    const manifests = ['x', 'y'].map((namespace) => createConfigMap('a', {}, { namespace }));
    expect(getErrors('deployManifest', { account: 'test', manifests })).toEqual([
      `${context}.moniker.empty`,
      `${context}.x.wrongNamespace`,
      `${context}.y.wrongNamespace`,
    ]);
  });

  test('never quotes what was sent', () => {
    const planted = { account: 'test', moniker, manifests: 'planted-secret', versioned: 'planted-secret' };
    expect(getErrors('deployManifest', planted).join()).not.toContain('planted');
  });

  /** A deploy into one namespace of a manifest that names another. */
  function namespaceOverrideOf(namespaceOverride: string, namespace: string): JsonObject {
    return { namespaceOverride, manifests: [createConfigMap('flags', {}, { namespace })] };
  }
});

const web = { account: 'test', manifestName: 'deployment web', location: 'shop' };
const behind = { ...web, manifestName: 'replicaSet web' };
const resized = { account: 'test', serverGroupName: 'replicaSet web', region: 'shop' };
const labelSelectors = { selectors: [{ kind: 'EQUALS', key: 'tier', values: ['old'] }] };
const undone = { credentials: 'test', manifestName: 'deployment web', location: 'shop' };

test.each<[string, JsonObject]>([
  ['scaleManifest', { ...web, replicas: 2 }],
  ['scaleManifest', { ...web, replicas: '2' }],
  ['scaleManifest', { ...web, replicas: null }],
  ['scaleManifest', { ...web, replicas: 2, manifestName: 'deploy web' }],
  ['deleteManifest', web],
  ['deleteManifest', { account: 'test', location: 'shop', kinds: ['configMap'], labelSelectors }],
  ['deleteManifest', { ...web, options: { cascading: true, gracePeriodSeconds: null } }],
  ['deleteManifest', { ...web, options: { gracePeriodSeconds: 'soon' } }],
  ['deleteManifest', { ...web, options: { cascading: 'maybe' } }],
  ['deleteManifest', { ...web, kinds: ['configMap'], labelSelectors: { selectors: [] } }],
  ['undoRolloutManifest', { ...undone, revision: '3' }],
  ['undoRolloutManifest', { ...undone, revision: 0, numRevisionsBack: null }],
  ['undoRolloutManifest', { ...undone, numRevisionsBack: '1', stageTimeoutMs: 5 }],
  ['resizeServerGroup', { ...resized, capacity: { desired: 2 } }],
  ['resizeServerGroup', { ...resized, capacity: { min: 'any', desired: '2' } }],
  ['resizeServerGroup', { ...resized, capacity: { desired: 0 }, serverGroupName: 'ds web' }],
  ['enableManifest', behind],
  ['enableManifest', { ...behind, loadBalancers: null, targetPercentage: 'all' }],
  ['enableManifest', { ...behind, loadBalancers: ['service web', 'svc b'] }],
])('%s accepts %j', (name, description) => {
  expect(getErrors(name, description)).toEqual([]);
});

describe('patchManifest', () => {
  const context = 'patchKubernetesManifest.patchKubernetesManifest';
  const base = { account: 'test', manifestName: 'configMap flags', location: 'shop' };
  const merge = { ...base, patchBody: { data: { a: null } }, options: { mergeStrategy: 'merge' } };
  const json = {
    ...base,
    patchBody: [{ op: 'remove', path: '/data/a' }],
    options: { mergeStrategy: 'json' },
  };

  test.each<[JsonObject]>([
    [merge],
    [json],
    [{ ...json, patchBody: [{ op: 'add', path: '/data/a', value: null, from: 7 }, null] }],
    [{ ...json, patchBody: [] }],
    [{ ...merge, patchBody: {}, options: { mergeStrategy: 'strategic', record: 'true' } }],
    [{ ...merge, manifestName: 'CronTab.stable.example.com a', allArtifacts: null, manifestArtifact: 'x' }],
  ])('accepts %j', (description) => {
    expect(getErrors('patchManifest', description)).toEqual([]);
  });

  test.each<[JsonObject, string[]]>([
    [base, [`${context}.patchBody.empty`, `${context}.options.empty`]],
    [{ ...merge, options: {} }, [`${context}.options.mergeStrategy.empty`]],
    [{ ...merge, location: 'x' }, [`${context}.x.wrongNamespace`]],
    [
      { ...merge, options: { mergeStrategy: 'MERGE' } },
      [
        'patchManifest: options.mergeStrategy: expected one of strategic, json, merge, got a string (not shown)',
      ],
    ],
    [
      { ...merge, patchBody: [] },
      ['patchManifest: patchBody: expected an object for the strategy merge, got a list'],
    ],
    [{ ...json, patchBody: {} }, ['patchManifest: patchBody: expected a list, got an object']],
    [
      { ...json, patchBody: [{ op: 'move', path: '/a' }, { op: 'add' }] },
      [
        'patchManifest: patchBody[0].op: expected one of add, remove, replace, got a string (not shown)',
        'patchManifest: patchBody[1].path: expected a value, got none',
      ],
    ],
    [
      { ...json, patchBody: [{ op: 'add', path: 'data/a' }] },
      ['patchManifest: patchBody[0].path: expected a path such as /spec/replicas'],
    ],
  ])('refuses %j', (description, errors) => {
    expect(getErrors('patchManifest', description)).toEqual(errors);
  });
});
