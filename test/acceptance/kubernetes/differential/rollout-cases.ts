import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { namespaced, podTemplate } from './builders.ts';
import { getTarget, type OperationCase } from './operation-case.ts';
import { namePlaceholder, namespacePlaceholder } from './pair.ts';

type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'ReplicaSet';

/** Spinnaker's name of each kind, and where it is served. */
const kinds: { readonly [kind in WorkloadKind]: { readonly name: string; readonly plural: string } } = {
  Deployment: { name: 'deployment', plural: 'deployments' },
  StatefulSet: { name: 'statefulSet', plural: 'statefulsets' },
  DaemonSet: { name: 'daemonSet', plural: 'daemonsets' },
  ReplicaSet: { name: 'replicaSet', plural: 'replicasets' },
};
const rolloutKinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

/** A workload that runs no Pods: of none, or on no node. */
function workload(kind: WorkloadKind, members: JsonObject = {}): Manifest {
  const isEverywhere = kind === 'DaemonSet';
  return namespaced(`apps/v1 ${kind}`, {
    metadata: { annotations: { note: 'first' } },
    spec: {
      ...(!isEverywhere && { replicas: 0 }),
      ...(kind === 'StatefulSet' && { serviceName: namePlaceholder }),
      selector: { matchLabels: { app: namePlaceholder } },
      template: podTemplate(isEverywhere ? { nodeSelector: { nowhere: 'to-be-found' } } : {}),
      ...members,
    },
  });
}

/** A change of the pod template, which makes a revision. */
function templateChange(image: string, more: JsonObject = {}): JsonObject {
  const container = { name: 'main', image: `registry.example/main:${image}` };
  return { spec: { template: { spec: { containers: [container] } } }, ...more };
}

const threeRevisions = [
  templateChange('2', { metadata: { annotations: { note: 'second', more: 'yes' } } }),
  templateChange('3', { metadata: { annotations: { note: null, last: 'third' } } }),
];

interface RolloutCase extends Pick<OperationCase, 'before' | 'fails'> {
  readonly title: string;
  readonly kind: WorkloadKind;
  readonly members?: JsonObject;
  /** Words of the command before the object, and after it. */
  readonly command: readonly [before: string, after?: string];
  readonly operation: string;
  readonly fields?: JsonObject;
}

function toCase({ title, kind, members, command, operation, fields, ...rest }: RolloutCase): OperationCase {
  const { name, plural } = kinds[kind];
  const [verb, flags = ''] = command;
  return {
    ...rest,
    title: `${command.join(' ')} of a ${kind}: ${title}`,
    object: workload(kind, members),
    target: getTarget(`apis/apps/v1 ${plural}`),
    command: [...verb.split(' '), `${name}/${namePlaceholder}`, ...flags.split(' ').filter(Boolean)],
    operation: [operation, { manifestName: `${name} ${namePlaceholder}`, ...fields }],
  };
}

/** @param fields which revision; the command's number is that of kubectl */
function undo(kind: WorkloadKind, fields: JsonObject, toRevision: number): RolloutCase {
  return {
    title: JSON.stringify(fields),
    kind,
    before: threeRevisions,
    command: ['rollout undo', `--to-revision=${toRevision}`],
    operation: 'undoRolloutManifest',
    fields,
  };
}

const undoCases: readonly RolloutCase[] = rolloutKinds.flatMap((kind) => [
  undo(kind, { revision: 1 }, 1),
  undo(kind, { revision: 0 }, 0),
  undo(kind, { numRevisionsBack: '1' }, 2),
  undo(kind, { numRevisionsBack: 2, revision: 3 }, 1),
  { ...undo(kind, { numRevisionsBack: 0 }, 3), title: 'the newest, which it is' },
  { ...undo(kind, { revision: 7 }, 7), title: 'one that is not there', fails: true },
  { ...undo(kind, { revision: 0 }, 0), title: 'without a history', before: [], fails: true },
]);

const rolloutOperations = {
  pause: 'pauseRolloutManifest',
  resume: 'resumeRolloutManifest',
  restart: 'rollingRestartManifest',
};
const paused = { members: { paused: true } };

/** Of a Deployment unless the kind is said. */
function rollout(
  verb: keyof typeof rolloutOperations,
  given: Omit<RolloutCase, 'kind' | 'command' | 'operation'> & { readonly kind?: WorkloadKind },
): RolloutCase {
  return { kind: 'Deployment', ...given, command: [`rollout ${verb}`], operation: rolloutOperations[verb] };
}

const restartedAt = { 'kubectl.kubernetes.io/restartedAt': '2020-01-01T00:00:00Z', a: 'b' };
const restarted = { spec: { template: { metadata: { annotations: restartedAt } } } };

const pausedCases: readonly RolloutCase[] = [
  {
    ...undo('Deployment', { revision: 1 }, 1),
    title: 'paused',
    before: [...threeRevisions, { spec: { paused: true } }],
    fails: true,
  },
  rollout('pause', { title: 'running' }),
  rollout('pause', { title: 'paused already', ...paused, fails: true }),
  rollout('resume', { title: 'paused', ...paused }),
  rollout('resume', { title: 'not paused', fails: true }),
  rollout('restart', { title: 'paused', ...paused, fails: true }),
  ...(['StatefulSet', 'DaemonSet'] as const).flatMap((kind) => [
    rollout('pause', { title: 'impossible', kind, fails: true }),
    rollout('resume', { title: 'impossible', kind, fails: true }),
  ]),
];

const restartCases: readonly RolloutCase[] = rolloutKinds.flatMap((kind) => [
  rollout('restart', { title: 'the first time', kind }),
  rollout('restart', { title: 'again', kind, before: [restarted] }),
]);

const scaleCases: readonly RolloutCase[] = (['Deployment', 'StatefulSet', 'ReplicaSet'] as const).flatMap(
  (kind): RolloutCase[] => [
    {
      title: 'scaleManifest',
      kind,
      command: ['scale', '--replicas=1'],
      operation: 'scaleManifest',
      fields: { replicas: '1' },
    },
    {
      title: 'resizeServerGroup',
      kind,
      command: ['scale', '--replicas=1'],
      operation: 'resizeServerGroup',
      fields: {
        serverGroupName: `${kinds[kind].name} ${namePlaceholder}`,
        region: namespacePlaceholder,
        capacity: { desired: 1, min: 0, max: 7 },
      },
    },
  ],
);

export const rolloutCases: readonly OperationCase[] = [
  ...undoCases,
  ...pausedCases,
  ...restartCases,
  ...scaleCases,
  toScaleOfDaemonSet(),
].map(toCase);

/** What Clouddriver lets pass, and kubectl refuses. */
function toScaleOfDaemonSet(): RolloutCase {
  return {
    title: 'impossible',
    kind: 'DaemonSet',
    command: ['scale', '--replicas=1'],
    operation: 'resizeServerGroup',
    fields: {
      serverGroupName: `daemonSet ${namePlaceholder}`,
      region: namespacePlaceholder,
      capacity: { desired: 1 },
    },
    fails: true,
  };
}
