import { describe, expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { createCacheFilter } from '#providers/kubernetes/rows/cached-objects.ts';
import { createManifest } from '../manifests.ts';
import { createReplicaSet, createSampleService } from '../views/sample-manifests.ts';

const registry = createKindRegistry();
const open = { registry, kinds: ['replicaSet', 'pod', 'service'], rules: { onlySpinnakerManaged: false } };

describe('an object is kept', () => {
  test('when its kind is cached', () => {
    const isCached = createCacheFilter(open);
    expect(isCached(createReplicaSet('web'))).toBe(true);
    expect(isCached(createManifest('v1', 'ConfigMap', { name: 'flags' }))).toBe(false);
    expect(isCached(createManifest('example.com/v1', 'Pod', { name: 'other' }))).toBe(false);
  });

  test.each([
    { value: 'true', kept: false },
    { value: '"true"', kept: false },
    { value: 'false', kept: true },
    { value: '', kept: true },
  ])('unless its annotation says otherwise: $value', ({ value, kept }) => {
    const annotations = { 'caching.spinnaker.io/ignore': value };
    expect(createCacheFilter(open)(createReplicaSet('web', { annotations }))).toBe(kept);
  });

  test('only with an application annotation where the account wants it so', () => {
    const isCached = createCacheFilter({ ...open, rules: { onlySpinnakerManaged: true } });
    expect(isCached(createReplicaSet('web'))).toBe(true);
    expect(isCached(createManifest('v1', 'Service', { name: 'web' }))).toBe(false);
  });

  test('only of an application that Front50 knows where it decides; pods of whatever', () => {
    const asked: string[] = [];
    const isCached = createCacheFilter({
      ...open,
      isKnownApplication: (application) => {
        asked.push(application);
        return application === 'shop';
      },
    });
    expect(isCached(createSampleService('web', {}))).toBe(true);
    expect(isCached(createManifest('v1', 'Service', { name: 'other-web' }))).toBe(false);
    expect(isCached(createManifest('v1', 'Pod', { name: 'other-web' }))).toBe(true);
    expect(asked).toEqual(['shop', 'other']);
  });
});
