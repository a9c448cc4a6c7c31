import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { operationDefinitions } from '#providers/kubernetes/operations/index.ts';
import { createConfigMap, createJob, createManifest } from '../manifests.ts';
import { listErrors, loadOperations, openProvider } from '../provider-setup.ts';

const rbacVersion = 'rbac.authorization.k8s.io/v1';

const provider = openProvider([
  { name: 'open', kubeconfigContents: '{}' },
  { name: 'shop', kubeconfigContents: '{}', namespaces: ['shop', 'billing'] },
  { name: 'closed', kubeconfigContents: '{}', namespaces: ['shop'], clusterScopedKinds: false },
  { name: 'omitting', kubeconfigContents: '{}', omitNamespaces: ['vault'] },
]);
await loadOperations(provider);

interface Described {
  readonly kind: string;
  readonly name: string;
  readonly namespace: JsonValue;
}

/** Each operation's description of an object by its kind, name and namespace. */
const operations: {
  readonly [operation: string]: {
    /** A kind that it takes. */
    readonly kind: string;
    describe(object: Described): JsonObject;
  };
} = {
  deployManifest: { kind: 'configMap', describe: (object) => deploy({ manifests: [toManifest(object)] }) },
  scaleManifest: { kind: 'deployment', describe: toTarget },
  deleteManifest: { kind: 'configMap', describe: toTarget },
  patchManifest: {
    kind: 'configMap',
    describe: (object) => ({ ...toTarget(object), patchBody: {}, options: { mergeStrategy: 'merge' } }),
  },
  cleanupArtifacts: { kind: 'configMap', describe: (object) => ({ manifests: [toDeployed(object)] }) },
  undoRolloutManifest: { kind: 'deployment', describe: (object) => ({ ...toTarget(object), revision: 1 }) },
  pauseRolloutManifest: { kind: 'deployment', describe: toTarget },
  resumeRolloutManifest: { kind: 'deployment', describe: toTarget },
  rollingRestartManifest: { kind: 'deployment', describe: toTarget },
  enableManifest: { kind: 'replicaSet', describe: toTarget },
  disableManifest: { kind: 'replicaSet', describe: toTarget },
  resizeServerGroup: {
    kind: 'replicaSet',
    describe: ({ kind, name, namespace }) => ({
      ...{ serverGroupName: `${kind} ${name}`, region: namespace, capacity: { desired: 1 } },
    }),
  },
  runJob: {
    kind: 'job',
    describe: ({ name, namespace }) => ({
      application: 'shop',
      manifest: { ...createJob({ name }), metadata: { name, namespace } },
    }),
  },
};

/** Those whose objects are told by `kind name`. */
const targeting = Object.keys(operations).filter(
  (name) => !['deployManifest', 'cleanupArtifacts', 'runJob'].includes(name),
);

function deploy(fields: JsonObject): JsonObject {
  return { moniker: { app: 'shop' }, ...fields };
}

function toTarget({ kind, name, namespace }: Described): JsonObject {
  return { manifestName: `${kind} ${name}`, location: namespace };
}

function toManifest({ name, namespace }: Described): JsonObject {
  return { ...createConfigMap(name, {}), metadata: { name, namespace } };
}

function toDeployed({ kind, name, namespace }: Described): JsonObject {
  const annotations = {
    'artifact.spinnaker.io/type': `kubernetes/${kind}`,
    'artifact.spinnaker.io/name': name,
    // Where it was copied from, which does not matter.
    'artifact.spinnaker.io/location': 'elsewhere',
    'artifact.spinnaker.io/version': 'v003',
    'strategy.spinnaker.io/max-version-history': '1',
  };
  const [apiVersion, kindName] = kind === 'clusterRole' ? [rbacVersion, 'ClusterRole'] : ['v1', 'ConfigMap'];
  return { apiVersion, kind: kindName, metadata: { name: `${name}-v003`, namespace, annotations } };
}

const getErrors = (name: string, account: string, description: JsonObject) =>
  listErrors(provider, name, { account, ...description });

function refuse(name: string, namespace: JsonValue, account = 'shop'): readonly string[] {
  const operation = operations[name];
  const description = operation?.describe({ kind: operation.kind, name: 'web', namespace });
  return getErrors(name, account, description ?? {});
}

test('the tables below tell of every operation', () => {
  expect(Object.keys(operations).sort()).toEqual(operationDefinitions.map(({ name }) => name).sort());
});

describe.each(Object.keys(operations))('%s', (name) => {
  test.each(['shop', 'billing', ''])(
    'may be about the namespace %j of the account, or its default',
    (own) => {
      expect(refuse(name, own)).toEqual([]);
    },
  );

  test.each(['vault', 'default', 'Shop', 'shop ', 'constructor', '__proto__'])('not about %j', (other) => {
    expect(refuse(name, other)).toEqual([expect.stringMatching(`\\.${other}\\.wrongNamespace$`)]);
  });

  test('nor about one that is left out', () => {
    expect(refuse(name, 'vault', 'omitting')).toEqual([expect.stringMatching(/\.vault\.omittedNamespace$/)]);
    expect(refuse(name, 'shop', 'omitting')).toEqual([]);
  });

  test.each<{ value: JsonValue }>([{ value: ['vault'] }, { value: ['shop'] }, { value: {} }])(
    '$value is no namespace',
    ({ value }) => {
      const errors = refuse(name, value, 'open');
      expect(errors).toEqual([
        expect.stringMatching(/(location|region|namespace): expected a string, got (a list|an object)$/),
      ]);
    },
  );

  test.each(['a/b', '../vault', 'vault/configmaps/x', 'vault%2Fpods', '..', 'a\0', 'a\nb', 'n'.repeat(64)])(
    'the namespace %j would lead elsewhere, for an account without bounds, too',
    (namespace) => {
      expect(refuse(name, namespace, 'open')).toEqual([
        expect.stringMatching(/(location|region|namespace): expected (a name|at most)/),
      ]);
    },
  );
});

describe.each(targeting)('%s by name', (name) => {
  const { kind = '', describe: describeObject } = operations[name] ?? {};
  const errorsOf = (fullName: string, account = 'open') => {
    const [first = '', ...rest] = fullName.split(' ');
    const description = describeObject?.({ kind: first, name: rest.join(' '), namespace: 'shop' });
    return getErrors(name, account, description ?? {});
  };

  test.each([
    'vault/status',
    'x/proxy/',
    '../secrets',
    'a%2Fb',
    'a%252Fb',
    '.',
    '..',
    'a\0',
    'n'.repeat(254),
  ])('the name %j would lead elsewhere', (hostile) => {
    expect(errorsOf(`${kind} ${hostile}`)).toEqual([
      expect.stringMatching(/is not an object's name: expected/),
    ]);
  });

  test.each(['pods/log', '..', 'a%2f', '-a'])('%j is no kind', (hostile) => {
    expect(errorsOf(`${hostile} web`)).toEqual([
      expect.stringMatching(/is not an object's name: expected a kind/),
    ]);
  });

  test('a name with a colon is none of these', () => {
    expect(errorsOf(`${kind} system:node`)).toEqual([]);
  });
});

describe('deployManifest', () => {
  const errorsOf = (fields: JsonObject, account = 'open') =>
    getErrors('deployManifest', account, deploy(fields));
  const at = (metadata: JsonObject): JsonObject => ({ ...createConfigMap('a', {}), metadata });

  test.each<[JsonObject, string]>([
    [{ name: 'a/b' }, "name: expected a name without '/' and '%'"],
    [{ name: 'a%2Fb' }, "name: expected a name without '/' and '%'"],
    [{ name: '..' }, "name: expected a name other than '.' and '..'"],
    [{ name: 'a\nb' }, 'name: expected a name without control characters'],
    [{ name: 'n'.repeat(254) }, 'name: expected at most 253 characters, got 254'],
    [{ name: ['a'] }, 'name: expected a string, got a list'],
    [{ name: 5 }, 'name: expected a string, got 5'],
    [{ generateName: 'a/' }, "generateName: expected a name without '/' and '%'"],
    [{ generateName: {} }, 'generateName: expected a string, got an object'],
    [{ name: 'a', namespace: ['vault'] }, 'namespace: expected a string, got a list'],
    [{ name: 'a', namespace: { a: 1 } }, 'namespace: expected a string, got an object'],
    [{ name: 'a', namespace: 'x/y' }, "namespace: expected a name without '/' and '%'"],
  ])('%j is refused by its field, in a list, too', (metadata, error) => {
    expect(errorsOf({ manifests: [at(metadata)] })).toEqual([
      `deployManifest: manifests[0].metadata.${error}`,
    ]);
    expect(errorsOf({ manifests: [{ kind: 'List', items: [at({ name: 'b' }), at(metadata)] }] })).toEqual([
      `deployManifest: manifests[0].items[1].metadata.${error}`,
    ]);
  });

  test.each<[JsonObject, string]>([
    [{ apiVersion: 'v1/../../apis' }, "apiVersion: expected an apiVersion such as 'v1' or 'apps/v1'"],
    [{ kind: 'Pod/exec' }, 'kind: expected a kind of letters, digits, dots and dashes'],
  ])('%j is refused', (fields, error) => {
    expect(errorsOf({ manifests: [{ ...createConfigMap('a', {}), ...fields }] })).toEqual([
      `deployManifest: manifests[0].${error}`,
    ]);
  });

  test('an override that is no namespace is refused, even where there is nothing to override', () => {
    expect(errorsOf({ manifests: [], namespaceOverride: 'a/b' })).toEqual([
      "deployManifest: namespaceOverride: expected a name without '/' and '%'",
    ]);
    expect(errorsOf({ manifests: [], namespaceOverride: 'vault' }, 'shop')).toEqual([
      'deployKubernetesManifest.deployKubernetesManifest.vault.wrongNamespace',
    ]);
  });
});

test('deleteManifest by kinds: those are checked, too', () => {
  const labelSelectors = { selectors: [{ kind: 'EQUALS', key: 'a', values: ['b'] }] };
  const errorsOf = (fields: JsonObject, account: string) =>
    getErrors('deleteManifest', account, { labelSelectors, location: '', ...fields });
  expect(errorsOf({ kinds: ['configMap', 'pods/log'] }, 'open')).toEqual([
    'deleteManifest: kinds[1]: expected a kind of letters, digits, dots and dashes',
  ]);
  expect(errorsOf({ kinds: ['configMap', 'ns', 'clusterRole'] }, 'closed')).toEqual([
    "namespace-scoped account not allowed to access cluster-scoped kind: 'namespace'",
    "namespace-scoped account not allowed to access cluster-scoped kind: 'clusterRole'",
  ]);
  expect(errorsOf({ kinds: ['configMap'] }, 'closed')).toEqual([]);
});

test('runJob: its namespace is checked', () => {
  const errorsOf = (namespace: JsonValue) =>
    getErrors('runJob', 'shop', { application: 'shop', manifest: createJob({ name: 'smoke' }), namespace });
  expect(errorsOf('shop')).toEqual([]);
  expect(errorsOf('vault')).toEqual(['runKubernetesJob.runKubernetesJob.vault.wrongNamespace']);
  expect(errorsOf(['vault'])).toEqual(['runJob: namespace: expected a string, got a list']);
  expect(errorsOf('a/b')).toContain("runJob: namespace: expected a name without '/' and '%'");
});

describe('kinds that live in no namespace', () => {
  const role = createManifest(rbacVersion, 'ClusterRole', { name: 'system:x' });
  const refusal = (kind: string) => [
    `namespace-scoped account not allowed to access cluster-scoped kind: '${kind}'`,
  ];

  test.each(['deleteManifest', 'patchManifest'])('%s: only where the account may use them', (name) => {
    const errorsOf = (account: string, fullName: string) => {
      const [kind = '', object = ''] = fullName.split(' ');
      const description = operations[name]?.describe({ kind, name: object, namespace: '' });
      return getErrors(name, account, description ?? {});
    };
    expect(errorsOf('open', 'clusterRole system:x')).toEqual([]);
    expect(errorsOf('shop', 'clusterRole system:x')).toEqual([]);
    expect(errorsOf('closed', 'clusterRole system:x')).toEqual(refusal('clusterRole'));
    expect(errorsOf('closed', 'ns shop')).toEqual(refusal('namespace'));
    // A Namespace is the namespace that it is.
    expect(errorsOf('open', 'ns vault')).toEqual([]);
    expect(errorsOf('shop', 'ns shop')).toEqual([]);
    expect(errorsOf('shop', 'ns vault')).toEqual([expect.stringMatching(/\.vault\.wrongNamespace$/)]);
    expect(errorsOf('omitting', 'namespace vault')).toEqual([
      expect.stringMatching(/\.vault\.omittedNamespace$/),
    ]);
  });

  test('deployManifest and cleanupArtifacts: likewise', () => {
    const deployErrors = (account: string, manifest: JsonObject) =>
      getErrors('deployManifest', account, deploy({ manifests: [manifest] }));
    expect(deployErrors('shop', role)).toEqual([]);
    expect(deployErrors('closed', role)).toEqual(refusal('clusterRole'));
    expect(deployErrors('shop', createManifest('v1', 'Namespace', { name: 'shop' }))).toEqual([]);
    expect(deployErrors('shop', createManifest('v1', 'Namespace', { name: 'vault' }))).toEqual([
      'deployKubernetesManifest.deployKubernetesManifest.vault.wrongNamespace',
    ]);
    const deployed = { manifests: [toDeployed({ kind: 'clusterRole', name: 'x', namespace: '' })] };
    expect(getErrors('cleanupArtifacts', 'shop', deployed)).toEqual([]);
    expect(getErrors('cleanupArtifacts', 'closed', deployed)).toEqual(refusal('clusterRole'));
  });
});
