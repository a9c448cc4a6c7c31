import { describe, expect, test } from 'vitest';
import { toRevision } from '#caching/store/revision.ts';
import { isComparable, ObjectConversion } from '#providers/kubernetes/caching/object-conversion.ts';
import type { WatchedKind } from '#providers/kubernetes/caching/watched-kinds.ts';
import type { WatchChange } from '#providers/kubernetes/watch/watch.ts';
import { openAccount } from './open-account.ts';

const resource = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true, builtIn: true };
const services: WatchedKind = {
  ...{ kind: 'service', id: 'service v1', isDivided: true, resource, isWanted: true },
};
const namespaces: WatchedKind = {
  kind: 'namespace',
  id: 'namespace v1',
  isDivided: false,
  resource: { ...resource, kind: 'Namespace', plural: 'namespaces', namespaced: false },
  isWanted: false,
};

function toService(name: string, resourceVersion: string, namespace = 'shop') {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, resourceVersion, uid: name, labels: { app: name } },
  };
}

describe('the conversion of objects', () => {
  const account = openAccount({ omitNamespaces: ['hidden'] });
  const conversion = new ObjectConversion({ account, epoch: 7, kinds: [services, namespaces] });
  const change = (type: WatchChange['type'], ...of: Parameters<typeof toService>): WatchChange => ({
    type,
    object: toService(...of),
  });

  test('tells each change as far as the stream was read', () => {
    const told = [change('DELETED', 'a', '7'), change('MODIFIED', 'b', '8')];
    const changes = conversion.toChanges(told, '20');
    const seenAt = toRevision(7, '20');
    const gone = { kind: 'service', location: 'shop', name: 'a' };
    expect(changes).toMatchObject([
      { ...gone, revision: toRevision(7, '7'), seenAt, facts: undefined },
      { name: 'b', revision: toRevision(7, '8'), seenAt, facts: { name: 'b', resourceVersion: '8' } },
    ]);
  });

  test('takes for gone what is in a namespace that the account may not use, or is to be ignored', () => {
    const ignored = toService('a', '5');
    Object.assign(ignored.metadata, { annotations: { 'caching.spinnaker.io/ignore': 'true' } });
    const told: WatchChange[] = [{ type: 'MODIFIED', object: ignored }, change('ADDED', 'b', '6', 'hidden')];
    expect(conversion.toChanges(told, '6').map(({ facts }) => facts)).toEqual([undefined, undefined]);
    expect(conversion.toKept(ignored, toRevision(7, '9'))).toBeUndefined();
  });

  test('leaves out what cannot be told older from newer', () => {
    expect(conversion.toChanges([change('ADDED', 'a', 'W/"5"'), change('ADDED', '', '5')], '6')).toEqual([]);
    expect(['5', '', 'x', '5x', '9'.repeat(19)].filter(isComparable)).toEqual(['5']);
  });

  test('knows an object to be seen no earlier than it was changed', () => {
    const kept = conversion.toKept(toService('a', '12'), toRevision(7, '9'));
    expect(kept).toMatchObject({ revision: toRevision(7, '12'), seenAt: toRevision(7, '12') });
  });

  test('keeps of what is only needed the name', () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop-main', resourceVersion: '3', uid: 'u', labels: { a: 'b' } },
    };
    const kept = conversion.toKept(namespace, toRevision(7, '9'));
    expect(kept?.facts).toMatchObject({ kind: 'namespace', name: 'shop-main', moniker: {}, labels: {} });
  });
});
