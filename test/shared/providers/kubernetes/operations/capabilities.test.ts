import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import { builtInKinds } from '#providers/kubernetes/kinds/index.ts';
import { getOperation, loadOperations, openProvider } from '../provider-setup.ts';

const provider = openProvider([{ name: 'test', kubeconfigContents: '{}' }]);
await loadOperations(provider);
const kinds = [...builtInKinds.map(({ name }) => name), 'CronTab.stable.example.com', 'priorityClass'];
const rollout = ['deployment', 'statefulSet', 'daemonSet'];
const traffic = ['deployment', 'replicaSet', 'statefulSet', 'daemonSet', 'job', 'cronJob', 'pod'];
const scaled = ['deployment', 'replicaSet', 'statefulSet'];

/** What each operation can be done to, as Clouddriver has it. */
const rows: readonly (readonly [name: string, capability: string, phase: string, able: readonly string[]])[] =
  [
    ['scaleManifest', 'scale', 'SCALE_KUBERNETES_MANIFEST', scaled],
    ['resizeServerGroup', 'resize', 'RESIZE_KUBERNETES_SERVER_GROUP', [...scaled, 'daemonSet']],
    ['undoRolloutManifest', 'undoRollout', 'UNDO_ROLLOUT_KUBERNETES_MANIFEST', rollout],
    ['pauseRolloutManifest', 'pauseRollout', 'PAUSE_ROLLOUT_KUBERNETES_MANIFEST', rollout],
    ['resumeRolloutManifest', 'resumeRollout', 'RESUME_ROLLOUT_KUBERNETES_MANIFEST', rollout],
    ['rollingRestartManifest', 'rollingRestart', 'ROLLING_RESTART_KUBERNETES_MANIFEST', rollout],
    ['enableManifest', 'traffic', 'ENABLE_MANIFEST', traffic],
    ['disableManifest', 'traffic', 'DISABLE_MANIFEST', traffic],
    ['patchManifest', 'patch', 'PATCH_KUBERNETES_MANIFEST', kinds],
  ];
const operations = rows.map(([name, capability, phase, able]) => ({ name, capability, phase, able }));

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
