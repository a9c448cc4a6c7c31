import { asJsonArray, asString, getPath, type JsonValue } from '#core/json.ts';
import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createManifest } from '../../../manifests.ts';
import type { KubernetesOperationSpec, KubernetesPlace } from '../../../operations/specs/spec.ts';
import {
  createPod,
  formatOutside,
  listBadAccounts,
  listBadNamespaces,
  noName,
  readOwnLabels,
} from './worlds.ts';

const prefixes = {
  run: 'runKubernetesJobAtomicOperationDescription',
  clone: 'cloneKubernetesJobAtomicOperationDescription',
  destroy: 'destroyKubernetesJobAtomicOperationDescription',
};
const byCode = {
  clone: refuseBy(prefixes.clone),
  destroy: refuseBy(prefixes.destroy),
  run: refuseBy(prefixes.run),
};
const imageDescription = { registry: 'registry.test', repository: 'job', tag: '1' };

/** A name of a job is made up for each run. */
const varies = [[/kub-test-[0-9a-f]{12}/g, 'JOB']] as const;

const lines = [
  'Initializing creation of job...',
  'Looking up provided namespace...',
  'JobStatus name chosen to be JOB.',
  'Sending pod spec to the Kubernetes master.',
  'Finished creating job JOB.',
];

/** A pod runs to its end once. */
export const runJob: KubernetesOperationSpec = {
  world: () => [],
  context: ({ place }) => ({
    ...{ application: 'kub', stack: 'test', namespace: place, labels: { team: 'shop' } },
    container: { imageDescription, command: ['work'], envVars: [{ name: 'A', value: 'b' }] },
  }),
  invalid: [
    ...listBadAccounts('runJob'),
    ...listBadNamespaces('runJob', prefixes.run),
    byCode.run({ application: '' }, 'application'),
    byCode.run({ container: null }, 'containers'),
    byCode.run(
      { container: null, containers: [{ name: 'A', imageDescription }] },
      'container[0].name',
      noName,
    ),
    byCode.run({ freeFormDetails: 'A' }, 'details', noName),
  ],
  outside: formatOutside(prefixes.run),
  outsideNames: 'namespace',
  calls: { POST: 1 },
  history: lines,
  result: { deployedNames: ['JOB'], deployedNamesByLocation: { PLACE: ['JOB'] } },
  secrets: [],
  varies,
  look: lookAtJobs,
  effect: () => [
    {
      name: 'JOB',
      labels: { team: 'shop' },
      restartPolicy: 'Never',
      nodeSelector: null,
      pullSecrets: [{ name: 'hub' }],
      containers: [{ name: 'job', image: 'registry.test/job:1', command: ['work'] }],
      volumes: [],
    },
  ],
};

/** A pod is like the first container of another one, where the other ran. */
export const cloneJob: KubernetesOperationSpec = {
  ...runJob,
  world: () => [
    createManifest('v1', 'Pod', {
      name: 'kub-test-0123456789ab',
      labels: { team: 'shop' },
      more: {
        spec: {
          nodeSelector: { disk: 'fast' },
          volumes: [{ name: 'data', emptyDir: {} }],
          containers: [
            { name: 'work', image: 'registry.test/job:7', command: ['work'] },
            { name: 'side', image: 'registry.test/side:1' },
          ],
        },
      },
    }),
  ],
  context: ({ place }) => ({
    ...{ source: { jobName: 'kub-test-0123456789ab', namespace: place }, labels: { team: 'pay' } },
  }),
  invalid: [
    ...listBadAccounts('cloneJob'),
    ...listBadNamespaces('cloneJob', prefixes.clone),
    byCode.clone({ source: null }, 'source'),
    byCode.clone({ container: { name: 'A', imageDescription } }, 'container.name', noName),
  ],
  outside: `${prefixes.clone}.source.namespace.notRegistered`,
  calls: { GET: 2, POST: 1 },
  varies: [[/kub-test-(?!0123456789ab)[0-9a-f]{12}/g, 'JOB']],
  history: [
    'Reading ancestor job kub-test-0123456789ab...',
    'Initializing copy of job for kub-test-0123456789ab...',
    ...lines,
    'Finished copying job for kub-test-0123456789ab. New job = JOB.',
  ],
  // Its made-up name may come before that of its source.
  look: async (place) =>
    (await lookAtJobs(place)).filter((job) => getPath(job, 'name') !== 'kub-test-0123456789ab'),
  effect: () => [
    {
      name: 'JOB',
      labels: { team: 'pay' },
      restartPolicy: 'Never',
      nodeSelector: { disk: 'fast' },
      pullSecrets: [{ name: 'hub' }],
      containers: [{ name: 'work', image: 'registry.test/job:7', command: ['work'] }],
      volumes: ['data'],
    },
  ],
};

/** Of two jobs one goes. */
export const destroyJob: KubernetesOperationSpec = {
  world: () => [createPod('kub-test-a'), createPod('kub-test-b')],
  context: ({ place }) => ({ jobName: 'kub-test-a', namespace: place }),
  invalid: [
    ...listBadAccounts('destroyJob'),
    ...listBadNamespaces('destroyJob', prefixes.destroy),
    byCode.destroy({ jobName: null }, 'jobName'),
  ],
  outside: formatOutside(prefixes.destroy),
  outsideNames: 'namespace',
  calls: { GET: 2, DELETE: 1 },
  history: [
    'Initializing destroy of job.',
    'Looking up provided namespace...',
    'Destroying job...',
    'Successfully destroyed job kub-test-a.',
  ],
  secrets: [],
  look: ({ listNames }) => listNames('pods'),
  effect: () => ['kub-test-b'],
};

/** The pods, the oldest first. */
async function lookAtJobs({ listItems }: KubernetesPlace): Promise<JsonValue[]> {
  const pods = await listItems('pods');
  return pods.toSorted(compareAge).map((pod) => {
    const spec = (member: string) => getPath(pod, 'spec', member) ?? null;
    const volumes = asJsonArray(spec('volumes')).map((volume) => asString(getPath(volume, 'name')) ?? '');
    return {
      name: getPath(pod, 'metadata', 'name') ?? null,
      labels: readOwnLabels(pod),
      restartPolicy: spec('restartPolicy'),
      nodeSelector: spec('nodeSelector'),
      pullSecrets: spec('imagePullSecrets'),
      containers: asJsonArray(spec('containers')).map((container) => ({
        name: getPath(container, 'name') ?? null,
        image: getPath(container, 'image') ?? null,
        command: getPath(container, 'command') ?? null,
      })),
      volumes: volumes.filter((name) => !name.startsWith('kube-api-access-')),
    };
  });
}

function compareAge(one: JsonValue, other: JsonValue): number {
  const getVersion = (pod: JsonValue) => Number(getPath(pod, 'metadata', 'resourceVersion'));
  return getVersion(one) - getVersion(other);
}
