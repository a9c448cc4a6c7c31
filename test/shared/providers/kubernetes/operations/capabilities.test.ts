import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../../../../shared/core/errors.ts';
import { builtInKinds } from '../../../../../shared/providers/kubernetes/kinds/index.ts';
import { getOperation, openProvider } from '../provider-setup.ts';

const provider = openProvider([{ name: 'test', kubeconfigContents: '{}' }]);
const kinds = [...builtInKinds.map(({ name }) => name), 'CronTab.stable.example.com', 'priorityClass'];
const rollout = ['deployment', 'statefulSet', 'daemonSet'];
const traffic = ['deployment', 'replicaSet', 'statefulSet', 'daemonSet', 'job', 'cronJob', 'pod'];
const scaled = ['deployment', 'replicaSet', 'statefulSet'];

/** What each operation can be done to, as Clouddriver has it. */
const operations = [
  { name: 'scaleManifest', capability: 'scale', able: scaled },
  { name: 'resizeServerGroup', capability: 'resize', able: [...scaled, 'daemonSet'] },
  { name: 'undoRolloutManifest', capability: 'undoRollout', able: rollout },
  { name: 'pauseRolloutManifest', capability: 'pauseRollout', able: rollout },
  { name: 'resumeRolloutManifest', capability: 'resumeRollout', able: rollout },
  { name: 'rollingRestartManifest', capability: 'rollingRestart', able: rollout },
  { name: 'enableManifest', capability: 'traffic', able: traffic },
  { name: 'disableManifest', capability: 'traffic', able: traffic },
];

describe.each(operations)('$name', ({ name, capability, able }) => {
  test.each(kinds)('of a %s', (kind) => {
    const fullName = `${kind} web`;
    const description = {
      manifestName: fullName,
      serverGroupName: fullName,
      capacity: { desired: 1 },
      revision: 1,
    };
    const prepare = () => getOperation(provider, name).prepare({ account: 'test', ...description });
    if (able.includes(kind)) {
      expect(prepare().account).toBe('test');
      return;
    }
    const refusal = `${fullName}: the kind ${kind} does not support ${capability}`;
    expect(prepare).toThrow(new InvalidInputError(refusal));
  });
});
