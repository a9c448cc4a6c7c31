import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { finishDraft } from '#providers/kubernetes/v1/build/draft.ts';
import { buildPodSpec } from '#providers/kubernetes/v1/build/pod.ts';
import { deployField } from '#providers/kubernetes/v1/descriptions/server-group.ts';
import { parseWith, requireField } from '#settings/coerce.ts';
import { readFixture } from '#test/support/run/fixture.ts';

function build(fields: JsonObject): JsonObject {
  const description = parseWith(requireField(deployField), fields, 'createServerGroup');
  return finishDraft(buildPodSpec(description, { pullSecrets: [], defaultRegistry: 'gcr.io' }));
}

function buildContainer(fields: JsonObject): unknown {
  const { containers } = build({
    containers: [{ name: 'web', imageDescription: { repository: 'web' }, ...fields }],
  });
  return Array.isArray(containers) ? containers[0] : undefined;
}

const plain = { name: 'web', image: 'gcr.io/web:latest', imagePullPolicy: 'IfNotPresent', resources: {} };

const built =
  readFixture<{
    readonly [part in 'pods' | 'volumes' | 'containers']: [fields: JsonObject, made: JsonObject][];
  }>('kubernetes-v1/built.yaml');

test.each(built.pods)('the pod of %j', (fields, spec) => {
  expect(build(fields)).toEqual({ containers: [], ...spec });
});

test('containers of one server group share a pod', () => {
  const containers = ['web', 'side'].map((name) => ({ name, imageDescription: { repository: 'web' } }));
  expect(build({ containers })).toEqual({ containers: [plain, { ...plain, name: 'side' }] });
});

test.each(built.volumes)('the volume of %j', (source, volume) => {
  const { volumes } = build({ volumeSources: [{ name: 'v', ...source }] });
  expect(volumes).toEqual([{ name: 'v', ...volume }]);
});

test.each(built.containers)('the container of %j', (fields, container) => {
  expect(buildContainer(fields)).toEqual({ ...plain, ...container });
});
