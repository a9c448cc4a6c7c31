import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { buildAutoscaler } from '#providers/kubernetes/v1/build/autoscaler.ts';
import { buildReplicaSet, buildReplicationController } from '#providers/kubernetes/v1/build/controller.ts';
import { buildDeployment } from '#providers/kubernetes/v1/build/deployment.ts';
import { buildIngress } from '#providers/kubernetes/v1/build/ingress.ts';
import { buildService } from '#providers/kubernetes/v1/build/service.ts';
import { buildSet } from '#providers/kubernetes/v1/build/set.ts';
import { loadBalancerField } from '#providers/kubernetes/v1/descriptions/load-balancer.ts';
import { securityGroupField } from '#providers/kubernetes/v1/descriptions/security-group.ts';
import { deployField } from '#providers/kubernetes/v1/descriptions/server-group.ts';
import { readIngress } from '#providers/kubernetes/v1/read/ingress.ts';
import { readServerGroup } from '#providers/kubernetes/v1/read/server-group.ts';
import { readService } from '#providers/kubernetes/v1/read/service.ts';
import { parseWith, requireField } from '#settings/coerce.ts';

/** Not one that Frigga takes for a labelled variable, which is no part of a name. */
const word = fc.stringMatching(/^[a-z][a-z1-9]{0,6}$/);
const port = fc.integer({ min: 1, max: 65_535 });
const amount = fc.integer({ min: 1, max: 600 });
const words = fc.array(word, { maxLength: 3 });
const map = fc.dictionary(word, word, { maxKeys: 3 });
const some = <T extends object>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
  fc.record(model, { requiredKeys: [] });

const handler = fc.oneof(
  words.map((commands) => ({ type: 'EXEC', execAction: { commands } })),
  port.map((number) => ({ type: 'TCP', tcpSocketAction: { port: number } })),
  fc.tuple(port, word).map(([number, path]) => ({
    type: 'HTTP',
    httpGetAction: { port: number, path: `/${path}`, uriScheme: 'HTTPS', host: 'a.test' },
  })),
);
const probe = fc.tuple(handler, amount, amount).map(([handler, initialDelaySeconds, periodSeconds]) => ({
  handler,
  initialDelaySeconds,
  periodSeconds,
  timeoutSeconds: 3,
  successThreshold: 1,
  failureThreshold: 2,
}));
const envVar = fc.oneof(
  fc.tuple(word, word).map(([name, value]) => ({ name, value })),
  fc.tuple(word, word, word).map(([name, secretName, key]) => ({
    name,
    envSource: { secretSource: { secretName, key, optional: false } },
  })),
  fc.tuple(word, word, word).map(([name, configMapName, key]) => ({
    name,
    envSource: { configMapSource: { configMapName, key, optional: true } },
  })),
  word.map((name) => ({ name, envSource: { fieldRef: { fieldPath: 'metadata.name' } } })),
  word.map((name) => ({ name, envSource: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1' } } })),
);
const image = fc.oneof(
  fc.tuple(word, word, word).map(([host, repository, tag]) => ({
    registry: `${host}.test:5000`,
    repository: `team/${repository}`,
    tag,
  })),
  word.map((repository) => ({ registry: 'hub.test', repository, digest: `sha256:${'a'.repeat(64)}` })),
);
const container = fc
  .tuple(
    word,
    image,
    some({
      imagePullPolicy: fc.constantFrom('IFNOTPRESENT', 'ALWAYS', 'NEVER'),
      requests: fc.constant({ cpu: '250m' }),
      limits: fc.constantFrom({ memory: '1Gi' }, { cpu: '1', memory: '64Mi' }),
      ports: fc.array(
        fc.tuple(word, port).map(([name, containerPort]) => ({ name, containerPort, protocol: 'TCP' })),
        { maxLength: 2 },
      ),
      livenessProbe: probe,
      readinessProbe: probe,
      lifecycle: some({ postStart: handler, preStop: handler }),
      volumeMounts: fc.array(
        fc.tuple(word, word).map(([name, path]) => ({ name, mountPath: `/${path}`, readOnly: true })),
        { maxLength: 2 },
      ),
      envVars: fc.array(envVar, { maxLength: 3 }),
      envFrom: fc.array(
        word.map((name) => ({ prefix: 'P_', configMapRef: { name, optional: true } })),
        { maxLength: 2 },
      ),
      command: words,
      args: words,
      securityContext: some({
        privileged: fc.boolean(),
        runAsUser: amount,
        readOnlyRootFilesystem: fc.boolean(),
        capabilities: fc.constant({ add: ['NET_ADMIN'], drop: ['ALL'] }),
      }),
    }),
  )
  .map(([name, imageDescription, others]) => ({ name, imageDescription, ...others }));
const volume = fc.oneof(
  word.map((name) => ({ name, type: 'HOSTPATH', hostPath: { path: '/var' } })),
  word.map((name) => ({ name, type: 'EMPTYDIR', emptyDir: { medium: 'MEMORY' } })),
  word.map((name) => ({
    name,
    type: 'PERSISTENTVOLUMECLAIM',
    persistentVolumeClaim: { claimName: 'data', readOnly: true },
  })),
  word.map((name) => ({ name, type: 'SECRET', secret: { secretName: 'keys' } })),
  word.map((name) => ({
    name,
    type: 'CONFIGMAP',
    configMap: {
      configMapName: 'flags',
      items: [{ key: 'a', path: 'b', defaultMode: 420 }],
      defaultMode: 292,
    },
  })),
  word.map((name) => ({ name, type: 'NFS', nfs: { server: 'nfs.test', path: '/data', readOnly: false } })),
  word.map((name) => ({
    name,
    type: 'AWSELASTICBLOCKSTORE',
    awsElasticBlockStore: { volumeId: 'vol-1', fsType: 'ext4', partition: 1 },
  })),
);
const deploy = fc
  .tuple(
    word,
    fc.array(container, { minLength: 1, maxLength: 2 }),
    some({
      stack: word,
      freeFormDetails: word,
      loadBalancers: fc.uniqueArray(word, { maxLength: 3 }),
      volumeSources: fc.array(volume, { maxLength: 3 }),
      initContainers: fc.array(container, { maxLength: 1 }),
      nodeSelector: map,
      podAnnotations: map,
      hostNetwork: fc.boolean(),
      restartPolicy: fc.constant('Always'),
      dnsPolicy: fc.constantFrom('ClusterFirst', 'Default', 'None'),
      terminationGracePeriodSeconds: amount,
      serviceAccountName: word,
      tolerations: fc.array(
        some({ key: word, value: word, effect: fc.constant('NoSchedule'), operator: fc.constant('Equal') }),
        { maxLength: 2 },
      ),
    }),
  )
  .map(([application, containers, others]) => ({ application, containers, ...others }));

const account = 'old';
const namespace = 'shop';

/** As the API server gives it back, defaults aside. */
const store = (manifest: Manifest): Manifest => JSON.parse(JSON.stringify(manifest));
/** What descriptions say whose absent members and empty lists are left out. */
const parse = (input: object) =>
  parseWith(requireField(deployField), JSON.parse(JSON.stringify(input)), 'test');
/** The name of a server group of these parts. */
const toPlan = (input: { application: string; stack?: string; freeFormDetails?: string }) => {
  const { application, stack = '', freeFormDetails: detail } = input;
  const cluster = detail
    ? `${application}-${stack}-${detail}`
    : stack
      ? `${application}-${stack}`
      : application;
  const options = { namespace, replicas: 2, annotations: {}, pullSecrets: [], defaultRegistry: 'gcr.io' };
  return { name: `${cluster}-v007`, ...options, description: parse(input) };
};

test.each([
  ['ReplicationController', buildReplicationController, 'controllerAnnotations'],
  ['ReplicaSet', buildReplicaSet, 'replicaSetAnnotations'],
] as const)('a %s tells the description that it was made of', (kind, build, annotations) => {
  fc.assert(
    fc.property(deploy, map, (fields, own) => {
      const input = { ...fields, [annotations]: own };
      const read = readServerGroup(store(build(toPlan(input))), { account });
      const expected = { ...parse(input), kind, targetSize: 2, namespace };
      // What a container pulls by is always told.
      for (const each of [...expected.containers, ...expected.initContainers])
        each.imagePullPolicy ??= 'IFNOTPRESENT';
      expect(parse(read)).toEqual({
        ...expected,
        loadBalancers: input.loadBalancers ?? [],
        securityGroups: [],
      });
      expect(read).toMatchObject({ account, region: namespace });
    }),
    { numRuns: 200 },
  );
});

test('what is made of the description that was read is the same object', () => {
  fc.assert(
    fc.property(deploy, (input) => {
      const made = store(buildReplicationController(toPlan(input)));
      const read = readServerGroup(made, { account });
      const plan = { ...toPlan(input), description: parse(read) };
      expect(store(buildReplicationController(plan))).toEqual(made);
    }),
    { numRuns: 100 },
  );
});

test('the Deployment and the autoscaler of a server group tell their parts of it', () => {
  const deployment = {
    enabled: true,
    deploymentStrategy: {
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: '25%', maxUnavailable: '1' },
    },
    minReadySeconds: 5,
    revisionHistoryLimit: 3,
  };
  const plan = toPlan({
    application: 'kub',
    ...{ deployment, containers: [{ name: 'web', imageDescription: { repository: 'web' } }] },
  } as never);
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kub' };
  const autoscaler = buildAutoscaler({ namespace, target, min: 1, max: 9, cpuTarget: 70, annotations: {} });
  const parts = { account, deployment: store(buildDeployment(plan)), autoscaler: store(autoscaler) };
  expect(readServerGroup(store(buildReplicaSet(plan)), parts)).toMatchObject({
    targetSize: 2,
    deployment,
    capacity: { min: 1, max: 9, desired: 2 },
    scalingPolicy: { cpuUtilization: { target: 70 } },
  });
});

test.each(['StatefulSet', 'DaemonSet'] as const)('a %s tells what only such a server group has', (kind) => {
  const ofSet = {
    podManagementPolicy: 'Parallel',
    volumeClaims: [
      {
        claimName: 'data',
        accessModes: ['ReadWriteOnce'],
        requirements: { limits: {}, requests: { storage: '1Gi' } },
        selector: { matchExpressions: [], matchLabels: { disk: 'fast' } },
        storageClassName: 'standard',
      },
    ],
    volumeAnnotations: { a: 'b' },
  };
  const rollingUpdate = kind === 'StatefulSet' ? { partition: 2 } : { maxUnavailable: '25%' };
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
  const updateController = { enabled: false, updateStrategy, minReadySeconds: 3, revisionHistoryLimit: 4 };
  const own = { updateController, ...(kind === 'StatefulSet' && ofSet) };
  const image = { registry: 'hub.test', repository: 'web', tag: '1' };
  const plan = toPlan({
    application: 'kub',
    ...{ ...own, containers: [{ name: 'web', imageDescription: image }] },
  } as never);
  const read = readServerGroup(store(buildSet(kind, { ...plan, name: 'kub' })), { account });
  expect(read).toMatchObject({ kind, application: 'kub', ...own });
});

test('a Service and an Ingress tell the descriptions that they were made of', () => {
  const loadBalancer = {
    name: 'kub-web',
    namespace,
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30_080 }],
    externalIps: ['203.0.113.7'],
    clusterIp: '10.0.0.7',
    loadBalancerIp: '203.0.113.8',
    sessionAffinity: 'ClientIP',
    serviceType: 'LoadBalancer',
    serviceAnnotations: { a: 'b' },
    serviceLabels: { c: 'd' },
  };
  const parsed = parseWith(requireField(loadBalancerField), loadBalancer, 'test');
  expect(readService(store(buildService(parsed, namespace)), account)).toEqual({ account, ...loadBalancer });
  const securityGroup = {
    securityGroupName: 'kub-door',
    namespace,
    ingress: { serviceName: 'kub-web', port: 80 },
    tls: [{ hosts: ['shop.test'], secretName: 'cert' }],
    rules: [
      {
        host: 'shop.test',
        value: { http: { paths: [{ path: '/a', ingress: { serviceName: 'kub-web', port: 81 } }] } },
      },
    ],
    annotations: { a: 'b' },
    labels: { c: 'd' },
  };
  const group = parseWith(requireField(securityGroupField), securityGroup, 'test');
  expect(readIngress(store(buildIngress(group, namespace)), account)).toEqual({ account, ...securityGroup });
});
