import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../../../../shared/core/errors.ts';
import { builtInKinds } from '../../../../../shared/providers/kubernetes/kinds/index.ts';
import { getOperation, loadOperations, openProvider } from '../provider-setup.ts';

const provider = openProvider([{ name: 'test', kubeconfigContents: '{}' }]);
await loadOperations(provider);
const kinds = [...builtInKinds.map(({ name }) => name), 'CronTab.stable.example.com', 'priorityClass'];
const rollout = ['deployment', 'statefulSet', 'daemonSet'];
const traffic = ['deployment', 'replicaSet', 'statefulSet', 'daemonSet', 'job', 'cronJob', 'pod'];
const scaled = ['deployment', 'replicaSet', 'statefulSet'];

/** What each operation can be done to, as Clouddriver has it. */
const operations = [
  { name: 'scaleManifest', capability: 'scale', able: scaled, phase: 'SCALE_KUBERNETES_MANIFEST' },
  {
    name: 'resizeServerGroup',
    capability: 'resize',
    able: [...scaled, 'daemonSet'],
    phase: 'RESIZE_KUBERNETES_SERVER_GROUP',
  },
  {
    name: 'undoRolloutManifest',
    capability: 'undoRollout',
    able: rollout,
    phase: 'UNDO_ROLLOUT_KUBERNETES_MANIFEST',
  },
  {
    name: 'pauseRolloutManifest',
    capability: 'pauseRollout',
    able: rollout,
    phase: 'PAUSE_ROLLOUT_KUBERNETES_MANIFEST',
  },
  {
    name: 'resumeRolloutManifest',
    capability: 'resumeRollout',
    able: rollout,
    phase: 'RESUME_ROLLOUT_KUBERNETES_MANIFEST',
  },
  {
    name: 'rollingRestartManifest',
    capability: 'rollingRestart',
    able: rollout,
    phase: 'ROLLING_RESTART_KUBERNETES_MANIFEST',
  },
  { name: 'enableManifest', capability: 'traffic', able: traffic, phase: 'ENABLE_MANIFEST' },
  { name: 'disableManifest', capability: 'traffic', able: traffic, phase: 'DISABLE_MANIFEST' },
  { name: 'patchManifest', capability: 'patch', able: kinds, phase: 'PATCH_KUBERNETES_MANIFEST' },
];

describe.each(operations)('$name', ({ name, capability, able, phase }) => {
  test.each(kinds)('of a %s', (kind) => {
    const fullName = `${kind} web`;
    const description = {
      manifestName: fullName,
      serverGroupName: fullName,
      capacity: { desired: 1 },
      revision: '1',
      patchBody: {},
      options: { mergeStrategy: 'merge' },
      stageTimeoutMs: 5,
    };
    const prepare = () => getOperation(provider, name).prepare({ credentials: 'test', ...description });
    if (able.includes(kind)) {
      const operationClass = `Kubernetes${name.charAt(0).toUpperCase()}${name.slice(1)}Operation`;
      expect(prepare()).toMatchObject({ account: 'test', phase, operationClass });
      return;
    }
    const refusal = `${fullName}: the kind ${kind} does not support ${capability}`;
    expect(prepare).toThrow(new InvalidInputError(refusal));
  });
});
