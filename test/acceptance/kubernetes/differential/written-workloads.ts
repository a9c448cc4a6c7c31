import type { JsonObject } from '#core/json.ts';
import {
  container,
  containerPair,
  deployment,
  type Members,
  namespaced,
  patchBySomebody,
  podTemplate,
} from './builders.ts';
import { namePlaceholder, type Pair } from './pair.ts';

const selector = { matchLabels: { app: namePlaceholder } };
const deployments = '/apis/apps/v1 deployments';
const emptyDir = { name: 'data', emptyDir: {} };
const web = { containerPort: 8080, name: 'web' };

/** A change of the Pods' spec of a Deployment. */
const patchPods = (spec: JsonObject) => patchBySomebody(deployments, { spec: { template: { spec } } });

const withEnv = (env: { readonly [name: string]: string }) => ({
  containers: [container({ env: Object.entries(env).map(([name, value]) => ({ name, value })) })],
});

function specs(title: string, first: Members, second: Members): Pair {
  return { title, first: deployment({}, first), second: deployment({}, second) };
}

export const workloads: readonly Pair[] = [
  specs(
    'from rolling update to recreate',
    { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } },
    { strategy: { type: 'Recreate' } },
  ),
  specs('from the default strategy to recreate', {}, { strategy: { type: 'Recreate' } }),
  specs('from recreate to the default strategy', { strategy: { type: 'Recreate' } }, {}),
  specs(
    'a strategy without its defaults',
    { strategy: { type: 'RollingUpdate' } },
    { strategy: { type: 'RollingUpdate' } },
  ),
  specs(
    'a strategy emptied',
    { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '50%' } } },
    { strategy: {} },
  ),
  specs('replicas removed, back to their default', { replicas: 0 }, { minReadySeconds: 3 }),
  specs('revision history as null', { revisionHistoryLimit: 3 }, { revisionHistoryLimit: null }),
  {
    title: 'replicas that somebody scaled, not in the manifest',
    first: deployment(),
    between: [patchBySomebody(deployments, { spec: { replicas: 7 } })],
    second: deployment({}, { minReadySeconds: 1 }),
  },
  {
    title: 'replicas that somebody scaled, in the manifest',
    first: deployment({}, { replicas: 2 }),
    between: [patchBySomebody(deployments, { spec: { replicas: 7 } })],
    second: deployment({}, { replicas: 2 }),
  },
  {
    title: 'a sidecar, a variable and a volume that somebody injected',
    first: deployment({ volumes: [emptyDir] }),
    between: [
      patchPods({
        containers: [...withEnv({ INJECTED: '1' }).containers, container({ name: 'sidecar' })],
        volumes: [{ name: 'injected', emptyDir: {} }, emptyDir],
      }),
    ],
    second: deployment({
      containers: [container({ env: [{ name: 'OWN', value: '2' }] }), container({ name: 'second' })],
    }),
  },
  {
    title: 'containers that somebody reordered',
    first: deployment({ containers: [container(), container({ name: 'b' })] }),
    between: [patchPods({ containers: [container({ name: 'b' }), container()] })],
    second: deployment({ containers: [container(), container({ name: 'b' })] }),
  },
  {
    title: 'a variable that somebody removed, which the manifest removes too',
    first: deployment(withEnv({ A: '1', B: '2' })),
    between: [patchPods(withEnv({ B: '9' }))],
    second: deployment(withEnv({ B: '2' })),
  },
  {
    title: 'all variables removed by somebody, another one in the manifest',
    first: deployment(withEnv({ A: '1' })),
    between: [patchPods({ containers: [container({ env: null })] })],
    second: deployment(withEnv({ B: '2' })),
  },
  {
    title: 'a stateful set with claim templates',
    first: namespaced('apps/v1 StatefulSet', statefulSet({ updateStrategy: { type: 'OnDelete' } })),
    second: namespaced('apps/v1 StatefulSet', statefulSet({ updateStrategy: { type: 'RollingUpdate' } })),
  },
  {
    title: 'a daemon set',
    first: namespaced('apps/v1 DaemonSet', daemonSet({ env: [{ name: 'A' }, { name: 'B' }] })),
    second: namespaced('apps/v1 DaemonSet', daemonSet({ env: [{ name: 'B', value: '1' }] })),
  },
  {
    title: 'a replica set',
    first: namespaced('apps/v1 ReplicaSet', { spec: { replicas: 0, selector, template: podTemplate() } }),
    second: namespaced('apps/v1 ReplicaSet', {
      spec: { replicas: 0, minReadySeconds: 2, selector, template: podTemplate({ volumes: [emptyDir] }) },
    }),
  },
  {
    title: 'a job whose labels and parallelism change',
    first: namespaced('batch/v1 Job', { metadata: { labels: { a: '1' } }, spec: job({ parallelism: 1 }) }),
    second: namespaced('batch/v1 Job', { metadata: { labels: { b: '1' } }, spec: job({ parallelism: 2 }) }),
  },
  {
    title: 'a job whose template cannot change',
    first: namespaced('batch/v1 Job', { spec: job({}) }),
    second: namespaced('batch/v1 Job', {
      spec: { ...job({}), template: podTemplate({ restartPolicy: 'OnFailure' }) },
    }),
  },
  {
    title: 'a cron job',
    first: namespaced('batch/v1 CronJob', {
      spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: job({}) } },
    }),
    second: namespaced('batch/v1 CronJob', {
      spec: {
        schedule: '0 1 1 1 *',
        suspend: true,
        concurrencyPolicy: 'Forbid',
        jobTemplate: {
          metadata: { labels: { a: 'b' } },
          spec: {
            template: podTemplate({
              restartPolicy: 'OnFailure',
              containers: [container({ env: [{ name: 'A' }] })],
            }),
          },
        },
      },
    }),
  },
  {
    title: 'a pod that waits, with a new image and one toleration more',
    first: namespaced('v1 Pod', { spec: pod({}) }),
    second: namespaced('v1 Pod', {
      metadata: { labels: { a: 'b' } },
      spec: pod({
        containers: [container({ image: 'b:2' })],
        tolerations: [{ key: 'a', operator: 'Exists' }],
      }),
    }),
  },
  {
    title: 'a selector that cannot change',
    first: deployment(),
    second: deployment(
      {},
      {
        selector: { matchLabels: { app: 'other' } },
        template: podTemplate({}, { labels: { app: 'other' } }),
      },
    ),
  },
  { title: 'a field that does not exist', first: deployment(), second: deployment({}, { replicaz: 3 }) },
  {
    title: 'a field that does not exist, at creation',
    first: deployment({ contaners: [] }),
    second: deployment(),
  },
  containerPair('a port without its number', { ports: [web] }, { ports: [{ name: 'x' }] }),
  containerPair(
    'a directive that deletes',
    { env: [{ name: 'A' }, { name: 'B' }] },
    { env: [{ name: 'A', $patch: 'delete' }, { name: 'B' }] },
  ),
  containerPair(
    'a directive that deletes, where there is nothing',
    { ports: [web] },
    { env: [{ name: 'A', $patch: 'delete' }], ports: [web] },
  ),
  containerPair(
    'a directive that replaces',
    { env: [{ name: 'A' }, { name: 'B' }] },
    { env: [{ $patch: 'replace' }, { name: 'C' }] },
  ),
  specs(
    'a directive that replaces an object',
    { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3 } } },
    { strategy: { $patch: 'replace', type: 'RollingUpdate' } },
  ),
];

function statefulSet(spec: Members): Members {
  const volumeClaimTemplates = [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ];
  return {
    spec: { replicas: 0, serviceName: 'x', selector, template: podTemplate(), volumeClaimTemplates, ...spec },
  };
}

function daemonSet(members: Members): Members {
  const template = podTemplate({ nodeSelector: { nowhere: 'true' }, containers: [container(members)] });
  return { spec: { selector, template } };
}

function job(spec: Members): JsonObject {
  return { suspend: true, template: podTemplate({ restartPolicy: 'Never' }), ...spec };
}

function pod(spec: Members): JsonObject {
  return { schedulingGates: [{ name: 'example.com/wait' }], containers: [container()], ...spec };
}
