import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import { builtInKinds, createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import type { Capability } from '#providers/kubernetes/kinds/kind.ts';

const registry = createKindRegistry();

/** What Spinnaker's kinds are: priority, Spinnaker's kind, whether namespaced, whether versioned. */
const expected: readonly (readonly [string, number, string, boolean, boolean])[] = [
  ['namespace', 0, 'unclassified', false, false],
  ['role', 20, 'unclassified', true, false],
  ['clusterRole', 20, 'unclassified', false, false],
  ['roleBinding', 30, 'unclassified', true, false],
  ['clusterRoleBinding', 30, 'unclassified', false, false],
  ['customResourceDefinition', 30, 'unclassified', false, false],
  ['serviceAccount', 40, 'unclassified', true, false],
  ['storageClass', 40, 'unclassified', false, false],
  ['persistentVolume', 40, 'configs', false, false],
  ['configMap', 50, 'configs', true, true],
  ['secret', 50, 'configs', true, true],
  ['persistentVolumeClaim', 50, 'configs', true, false],
  ['service', 70, 'loadBalancers', true, false],
  ['ingress', 70, 'loadBalancers', true, false],
  ['networkPolicy', 70, 'securityGroups', true, false],
  ['apiService', 80, 'unclassified', false, false],
  ['limitRange', 90, 'unclassified', true, false],
  ['podPreset', 90, 'unclassified', true, false],
  ['podSecurityPolicy', 90, 'unclassified', false, false],
  ['podDisruptionBudget', 90, 'unclassified', true, false],
  ['deployment', 100, 'serverGroupManagers', true, false],
  ['replicaSet', 100, 'serverGroups', true, true],
  ['statefulSet', 100, 'serverGroups', true, false],
  ['daemonSet', 100, 'serverGroups', true, false],
  ['job', 100, 'serverGroups', true, false],
  ['cronJob', 100, 'serverGroups', true, false],
  ['pod', 100, 'instances', true, true],
  ['horizontalpodautoscaler', 110, 'unclassified', true, false],
  ['mutatingWebhookConfiguration', 1001, 'unclassified', false, false],
  ['validatingWebhookConfiguration', 1001, 'unclassified', false, false],
  ['controllerRevision', 1000, 'unclassified', true, false],
  ['event', 1000, 'unclassified', true, false],
];

const holders: Readonly<Record<Capability, readonly string[]>> = {
  scale: ['deployment', 'replicaSet', 'statefulSet'],
  resize: ['daemonSet', 'deployment', 'replicaSet', 'statefulSet'],
  pauseRollout: ['daemonSet', 'deployment', 'statefulSet'],
  resumeRollout: ['daemonSet', 'deployment', 'statefulSet'],
  undoRollout: ['daemonSet', 'deployment', 'statefulSet'],
  rollingRestart: ['daemonSet', 'deployment', 'statefulSet'],
  traffic: ['cronJob', 'daemonSet', 'deployment', 'job', 'pod', 'replicaSet', 'statefulSet'],
  loadBalances: ['service'],
  pods: ['replicaSet'],
};

describe('built-in kinds', () => {
  test('are those of Spinnaker', () => {
    const rows = builtInKinds.map((kind) => [
      kind.name,
      kind.deployPriority,
      kind.spinnakerKind,
      kind.namespaced,
      kind.versioned,
    ]);
    expect(rows).toEqual(expected);
    expect(builtInKinds.every((kind) => kind.known)).toBe(true);
  });

  test('have unique names and aliases', () => {
    const names = builtInKinds.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  });

  test.each(Object.entries(holders))('with the capability %s', (capability, names) => {
    const able = builtInKinds.filter(({ capabilities }) => capabilities.has(capability as Capability));
    expect(able.map(({ name }) => name).toSorted()).toEqual(names);
  });

  test('carry Kubernetes’ own spelling', () => {
    const spelling = (name: string) => registry.find(name).kubernetesKind;
    expect(spelling('replicaSet')).toBe('ReplicaSet');
    expect(spelling('hpa')).toBe('HorizontalPodAutoscaler');
    expect(spelling('apiService')).toBe('APIService');
  });

  test('refuse to be deployed where only Kubernetes makes them', () => {
    const refusing = builtInKinds.filter(({ deployable }) => !deployable);
    expect(refusing.map(({ name }) => name)).toEqual(['controllerRevision', 'event']);
  });

  test('refer to artifacts as Spinnaker’s do', () => {
    const using = (set: string) =>
      builtInKinds.filter((kind) => kind.replacers === set).map(({ name }) => name);
    expect(using('podTemplate')).toEqual([
      ...['deployment', 'replicaSet', 'statefulSet', 'daemonSet', 'job', 'cronJob'],
    ]);
    expect(using('pod')).toEqual(['pod']);
    expect(using('scaleTarget')).toEqual(['horizontalpodautoscaler']);
  });

  test('keep a secret’s data to themselves', () => {
    expect(builtInKinds.filter(({ sensitiveKeys }) => sensitiveKeys.length > 0)).toEqual([
      expect.objectContaining({ name: 'secret', sensitiveKeys: ['data', 'stringData'] }),
    ]);
  });
});

describe('a registry', () => {
  test('finds a kind however it is written', () => {
    for (const text of ['deploy', 'DEPLOYMENT', 'deployment.apps']) {
      expect(registry.find(text).name).toBe('deployment');
    }
  });

  test.each(['priorityClass', 'Lease.coordination.k8s.io', 'csiDriver', 'none', 'constructor', '__proto__'])(
    'answers the default for %s, under its own name',
    (kind) => {
      expect(registry.find(kind)).toMatchObject({
        name: kind,
        kubernetesKind: kind.split('.')[0],
        known: false,
        deployable: true,
        deployPriority: 1000,
        spinnakerKind: 'unclassified',
        versioned: false,
        namespaced: true,
        replacers: 'none',
      });
    },
  );

  const custom = createKindRegistry([
    { kubernetesKind: 'CronTab.stable.example.com' },
    {
      kubernetesKind: 'Rollout.argoproj.io',
      spinnakerKind: 'ServerGroups',
      deployPriority: 'network_resource_priority',
      versioned: true,
      namespaced: false,
    },
    { kubernetesKind: 'Secret', spinnakerKind: 'vaults', deployPriority: 5 },
  ]);

  test('knows an account’s custom resources, by default like a workload', () => {
    expect(custom.find('crontab.STABLE.example.com')).toMatchObject({
      name: 'CronTab.stable.example.com',
      kubernetesKind: 'CronTab',
      known: true,
      namespaced: true,
      deployPriority: 100,
      spinnakerKind: 'unclassified',
      versioned: false,
      replacers: 'none',
    });
  });

  test('takes a custom resource as configured', () => {
    expect(custom.find('Rollout.argoproj.io')).toMatchObject({
      deployPriority: 70,
      spinnakerKind: 'serverGroups',
      versioned: true,
      namespaced: false,
    });
  });

  test('lets an account redefine a built-in kind, but not uncover a secret', () => {
    expect(custom.find('secret')).toMatchObject({
      name: 'secret',
      deployPriority: 5,
      versioned: false,
      spinnakerKind: 'unclassified',
      sensitiveKeys: ['data', 'stringData'],
    });
    expect(custom.kinds.filter(({ name }) => name === 'secret')).toHaveLength(1);
  });

  test('lists the account’s kinds before the built-in ones', () => {
    expect(custom.kinds.slice(0, 3).map(({ name }) => name)).toEqual([
      'CronTab.stable.example.com',
      'Rollout.argoproj.io',
      'secret',
    ]);
    expect(custom.kinds).toHaveLength(builtInKinds.length + 2);
  });

  test('leaves other accounts alone', () => {
    expect(registry.find('Rollout.argoproj.io').known).toBe(false);
    expect(registry.find('secret').versioned).toBe(true);
  });

  test('maps each kind to Spinnaker’s, custom ones exactly as configured', () => {
    expect(Object.keys(registry.spinnakerKindMap)).toHaveLength(builtInKinds.length);
    expect(registry.spinnakerKindMap).toMatchObject({ deployment: 'serverGroupManagers', pod: 'instances' });
    expect(registry.spinnakerKindMap).not.toHaveProperty('none');
    expect(custom.spinnakerKindMap).toMatchObject({
      'CronTab.stable.example.com': 'unclassified',
      'Rollout.argoproj.io': 'ServerGroups',
      Secret: 'vaults',
    });
  });

  test('refuses a priority it does not know, which concerns that account alone', () => {
    const broken = [{ kubernetesKind: 'A.example.com', deployPriority: 'SOON' }];
    expect(() => createKindRegistry(broken)).toThrow(InvalidInputError);
    expect(() => createKindRegistry(broken)).toThrow(/A\.example\.com.*SOON/);
  });
});
