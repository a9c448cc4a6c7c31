import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { getPath, type JsonObject } from '#core/json.ts';
import {
  annotateArtifact,
  annotateMoniker,
  annotateObject,
  createDeployMoniker,
  findTemplateMetadata,
  type LabelSettings,
} from '#providers/kubernetes/manifest/annotate.ts';
import { readAnnotations, readLabels } from '#providers/kubernetes/manifest/annotations.ts';
import { readMoniker } from '#providers/kubernetes/manifest/identity.ts';
import { freeze } from '#test/support/engines/frozen.ts';

const settings: LabelSettings = { applyAppLabels: true, managedBySuffix: '', skipSpecTemplateLabels: false };
const unversioned = { type: 'kubernetes/deployment', name: 'web', location: 'shop', version: '' };
const artifact = { ...unversioned, reference: 'web' };
const recorded = Object.fromEntries(
  Object.entries(unversioned).map(([part, text]) => [`artifact.spinnaker.io/${part}`, text]),
);
const bare = freeze({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } });
const templated = freeze({
  ...bare,
  spec: { replicas: 2, template: { metadata: {}, spec: { containers: [] } } },
});

/** The metadata of the pod template. */
function templateOf(manifest: JsonObject) {
  return { metadata: getPath(manifest, 'spec', 'template', 'metadata') ?? null };
}

describe('annotateArtifact', () => {
  test('records the artifact on the object and on its pod template', () => {
    const annotated = annotateArtifact(templated, artifact);
    expect(readAnnotations(annotated)).toEqual(recorded);
    expect(readAnnotations(templateOf(annotated))).toEqual(recorded);
  });

  test('takes the place of what a copy of another object carries', () => {
    const copied = {
      'artifact.spinnaker.io/name': 'mine',
      'artifact.spinnaker.io/version': 'v003',
      other: 'kept',
    };
    const spec = { template: { metadata: { annotations: copied } } };
    const manifest = freeze({ ...templated, spec, metadata: { name: 'web', annotations: copied } });
    const annotated = annotateArtifact(manifest, artifact);
    expect(readAnnotations(annotated)).toEqual({ ...recorded, other: 'kept' });
    expect(readAnnotations(templateOf(annotated))).toEqual({ ...recorded, other: 'kept' });
  });

  test('of a version has its number, too', () => {
    const metadata = { name: 'web', annotations: { 'moniker.spinnaker.io/sequence': '3' } };
    const annotated = annotateArtifact(freeze({ ...bare, metadata }), { ...artifact, version: 'v012' });
    expect(readAnnotations(annotated)).toEqual({
      ...recorded,
      ...{ 'artifact.spinnaker.io/version': 'v012', 'moniker.spinnaker.io/sequence': '12' },
    });
  });

  test('writes where the user left a null', () => {
    const annotations = { 'artifact.spinnaker.io/name': null };
    for (const nulls of [annotations, null]) {
      const metadata = { name: 'web', annotations: nulls };
      expect(readAnnotations(annotateArtifact(freeze({ ...bare, metadata }), artifact))).toEqual(recorded);
    }
  });

  test.each([
    ['no spec', {}],
    ['a spec that is a list', { spec: [{ template: { metadata: {} } }] }],
    ['no template', { spec: {} }],
    ['a template without metadata', { spec: { template: { spec: {} } } }],
    ['a template whose metadata is null', { spec: { template: { metadata: null } } }],
    ['a job template', { spec: { jobTemplate: { spec: { template: { metadata: {} } } } } }],
  ])('leaves %s alone', (_name, fields) => {
    const annotated = annotateArtifact(freeze({ ...bare, ...fields }), artifact);
    const { metadata: _metadata, ...rest } = annotated;
    expect(rest).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', ...fields });
    expect(readAnnotations(annotated)).toEqual(recorded);
  });
});

describe('annotateMoniker', () => {
  const moniker = { app: 'cart', cluster: 'deployment web', sequence: 3 };
  const annotations = {
    'moniker.spinnaker.io/application': 'cart',
    'moniker.spinnaker.io/cluster': 'deployment web',
    'moniker.spinnaker.io/sequence': '3',
  };
  const labels = {
    'app.kubernetes.io/name': 'cart',
    'app.kubernetes.io/managed-by': 'spinnaker',
    'moniker.spinnaker.io/sequence': '3',
  };

  test('writes annotations and labels on the object and on its pod template', () => {
    const annotated = annotateMoniker(templated, moniker, settings);
    for (const place of [annotated, templateOf(annotated)]) {
      expect(readAnnotations(place)).toEqual(annotations);
      expect(readLabels(place)).toEqual(labels);
    }
  });

  test('writes nothing for what is unknown', () => {
    const annotated = annotateMoniker(bare, { stack: 's', detail: 'd' }, settings);
    expect(readAnnotations(annotated)).toEqual({
      'moniker.spinnaker.io/stack': 's',
      'moniker.spinnaker.io/detail': 'd',
    });
    expect(readLabels(annotated)).toEqual({ 'app.kubernetes.io/managed-by': 'spinnaker' });
  });

  test('keeps the user’s application label and overwrites Spinnaker’s own', () => {
    const own = { 'app.kubernetes.io/name': 'mine', 'app.kubernetes.io/managed-by': 'helm', tier: 'web' };
    const manifest = freeze({
      ...bare,
      metadata: { name: 'web', labels: { ...own, 'moniker.spinnaker.io/sequence': '1' } },
    });
    expect(readLabels(annotateMoniker(manifest, moniker, settings))).toEqual({
      'app.kubernetes.io/name': 'mine',
      'app.kubernetes.io/managed-by': 'spinnaker',
      'moniker.spinnaker.io/sequence': '3',
      tier: 'web',
    });
  });

  test('names the installation in managed-by', () => {
    const annotated = annotateMoniker(bare, moniker, { ...settings, managedBySuffix: 'eu' });
    expect(readLabels(annotated)['app.kubernetes.io/managed-by']).toBe('spinnaker-eu');
  });

  test('writes no labels if told so, but still the annotations', () => {
    const annotated = annotateMoniker(templated, moniker, { ...settings, applyAppLabels: false });
    for (const place of [annotated, templateOf(annotated)]) {
      expect(readLabels(place)).toEqual({});
      expect(readAnnotations(place)).toEqual(annotations);
    }
  });

  test('spares the template’s labels if told so, but not its annotations', () => {
    const annotated = annotateMoniker(templated, moniker, { ...settings, skipSpecTemplateLabels: true });
    expect(readLabels(annotated)).toEqual(labels);
    expect(templateOf(annotated)).toEqual({ metadata: { annotations } });
  });

  test('is read back as the moniker it wrote', () => {
    const text = fc.option(fc.stringMatching(/^[a-z][a-z0-9 -]{0,8}$/), { nil: undefined });
    const monikers = fc.record({
      app: fc.stringMatching(/^[a-z]{1,8}$/),
      cluster: fc.stringMatching(/^[a-z]{1,8}$/),
    });
    const more = fc.record({
      stack: text,
      detail: text,
      sequence: fc.option(fc.nat({ max: 9999 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(monikers, more, (known, optional) => {
        const given = Object.entries({ ...known, ...optional }).filter(([, value]) => value !== undefined);
        const written = Object.fromEntries(given);
        expect(readMoniker(annotateMoniker(bare, written, settings))).toEqual(written);
      }),
    );
  });
});

describe('createDeployMoniker', () => {
  test('names the cluster after the object, and takes the version for its sequence', () => {
    expect(createDeployMoniker(bare, { app: 'cart' }, 3)).toEqual({
      app: 'cart',
      cluster: 'deployment web',
      sequence: 3,
    });
  });

  test('keeps what the request names', () => {
    const requested = { app: 'cart', cluster: 'mine', stack: 's', sequence: 8 };
    expect(createDeployMoniker(bare, requested, undefined)).toEqual(requested);
    expect(createDeployMoniker(bare, requested, 0).sequence).toBe(0);
    expect(createDeployMoniker(bare, { cluster: '' }, undefined).cluster).toBe('deployment web');
  });

  test('names the cluster after the prefix of a name to come', () => {
    const manifest = { apiVersion: 'batch/v1', kind: 'Job', metadata: { generateName: 'smoke-' } };
    expect(createDeployMoniker(manifest, {}, undefined).cluster).toBe('job smoke-');
  });
});

test('annotateObject leaves the pod template alone', () => {
  const annotated = annotateObject(templated, 'key', 'value');
  expect(readAnnotations(annotated)).toEqual({ key: 'value' });
  expect(annotated.spec).toBe(templated.spec);
  expect(readAnnotations(annotateObject(annotated, 'key', 'other'))).toEqual({ key: 'value' });
});

test('findTemplateMetadata finds a pod template only', () => {
  expect(findTemplateMetadata(templated)).toEqual(['spec', 'template', 'metadata']);
  expect(findTemplateMetadata(bare)).toBeUndefined();
});
