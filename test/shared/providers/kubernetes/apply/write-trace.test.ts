import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { readTrace, tookEffect } from '#providers/kubernetes/apply/write-trace.ts';

const manifest = { kind: 'ConfigMap', metadata: { name: 'a', labels: null }, data: { list: ['x'] } };

/** A live object that some manager wrote at some time. */
function live(manager: string, time: string, more: JsonObject = {}): JsonObject {
  const operation = manager === 'kubectl' ? 'Apply' : 'Update';
  const managedFields = [{ manager, operation, time, fieldsV1: { 'f:data': {} } }];
  const metadata = { name: 'a', uid: 'u', resourceVersion: '7', managedFields };
  return { kind: 'ConfigMap', metadata, data: { list: ['x'], other: '1' }, ...more };
}

test.each(['kubectl', 'kubectl-create', 'kubectl-replace'])('sees a write of %s', (manager) => {
  expect(tookEffect(live(manager, '10:01'), manifest, readTrace(undefined))).toBe(true);
  expect(tookEffect(live(manager, '10:01'), manifest, readTrace(live(manager, '10:00')))).toBe(true);
});

test('takes no other write for ours', () => {
  const before = live('kubectl-replace', '10:00');
  const trace = readTrace(before);
  const [own] = (before['metadata'] as { managedFields: JsonObject[] }).managedFields;
  const controller = { manager: 'controller', operation: 'Update', time: '10:01' };
  const status = { ...own, subresource: 'status', time: '10:01' };
  for (const managedFields of [[own], [own, controller], [own, status]] as JsonObject[][]) {
    const metadata = { name: 'a', resourceVersion: '8', managedFields };
    expect(tookEffect({ ...before, metadata }, manifest, trace)).toBe(false);
  }
});

test.each<[string, JsonObject]>([
  ['another value', { data: { list: ['y'] } }],
  ['more elements', { data: { list: ['x', 'y'] } }],
  ['no such member', { data: {} }],
])('is in doubt when the object has %s', (_what, more) => {
  expect(tookEffect(live('kubectl', '10:01', more), manifest, readTrace(undefined))).toBe(false);
});

test('an object that is not there was not written', () => {
  expect(readTrace(undefined).resourceVersion).toBe('');
  expect(tookEffect(undefined, manifest, readTrace(undefined))).toBe(false);
});

test('gives away nothing of what is in the object', () => {
  const secret = live('kubectl', '10:00', { data: { password: 'planted' } });
  expect(JSON.stringify(readTrace(secret))).not.toMatch(/planted|password/);
});
