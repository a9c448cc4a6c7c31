import { expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { createConfigMap, createJob } from '../manifests.ts';
import { getOperation, loadOperations, openProvider } from '../provider-setup.ts';

const provider = openProvider([{ name: 'test', kubeconfigContents: '{}' }]);
await loadOperations(provider);
const mark = { annotations: { 'busdriver.io/incomplete': 'From the cache' } };

function prepare(operation: string, description: JsonObject): void {
  getOperation(provider, operation).prepare({ account: 'test', ...description });
}

const deploy = (...manifests: JsonObject[]) =>
  prepare('deployManifest', { moniker: { app: 'shop' }, manifests });
const run = (manifest: JsonObject) => prepare('runJob', { application: 'shop', manifest });

test('what came from the cache is not deployed, nor run, whole or in a list', () => {
  const marked = createConfigMap('flags', {}, mark);
  const list = { apiVersion: 'v1', kind: 'List', items: [createConfigMap('fine', {}), marked] };
  const job = createJob({ name: 'smoke', ...mark });
  for (const attempt of [() => deploy(marked), () => deploy(list), () => run(job)]) {
    expect(attempt).toThrow(InvalidInputError);
    expect(attempt).toThrow(/^(configMap flags|job smoke): the annotation 'busdriver\.io\/incomplete' says/);
  }
});

test('what did not is', () => {
  deploy(createConfigMap('flags', {}, { annotations: { 'busdriver.io/other': 'x' } }));
  run(createJob({ name: 'smoke' }));
});
