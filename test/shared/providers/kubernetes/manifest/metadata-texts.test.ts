import { expect, test } from 'vitest';
import { parseBoundedJson } from '#core/bounded-json.ts';
import type { JsonObject } from '#core/json.ts';
import { describeTexts, writeMetadataTexts } from '#providers/kubernetes/manifest/metadata-texts.ts';

const labels = { version: 1.5, stable: true, tier: 'web', none: null };
const texts = { version: '1.5', stable: 'true', tier: 'web', none: null };

test.each([
  ['its own', (metadata: JsonObject) => ({ metadata })],
  ['its template', (metadata: JsonObject) => ({ spec: { template: { metadata } } })],
  ['its job template', (metadata: JsonObject) => ({ spec: { jobTemplate: { metadata } } })],
  [
    'the template of its job',
    (metadata: JsonObject) => ({ spec: { jobTemplate: { spec: { template: { metadata } } } } }),
  ],
])('numbers and truths in %s annotations and labels become texts', (_, place) => {
  const manifest = place({ labels, annotations: { build: 7, note: 'x' } });
  const before = structuredClone(manifest);
  const { manifest: written, changed } = writeMetadataTexts(manifest);
  expect(written).toEqual(place({ labels: texts, annotations: { build: '7', note: 'x' } }));
  expect(changed.map((path) => path.split('.').slice(-2).join('.'))).toEqual([
    'annotations.build',
    'labels.version',
    'labels.stable',
  ]);
  expect(manifest).toEqual(before);
});

test.each(['selector', 'podSelector'])(
  'numbers and truths in the matchLabels of its %s become texts',
  (selector) => {
    const place = (matchLabels: JsonObject) => ({
      spec: { [selector]: { matchLabels, matchExpressions: [] } },
    });
    const { manifest: written, changed } = writeMetadataTexts(place(labels));
    expect(written).toEqual(place(texts));
    expect(changed).toEqual(['version', 'stable'].map((key) => `spec.${selector}.matchLabels.${key}`));
  },
);

test('integers keep their digits', () => {
  const { value } = parseBoundedJson('{"metadata": {"labels": {"id": 9007199254740993}}}', {
    depthMax: 9,
    valuesMax: 9,
  });
  expect(writeMetadataTexts(value as JsonObject).manifest).toEqual({
    metadata: { labels: { id: '9007199254740993' } },
  });
});

test('what is no scalar is left to the API server, and nothing to change is the same manifest', () => {
  const manifest = {
    metadata: { labels: { a: ['x'], b: { c: 1 } }, annotations: { a: 'x' } },
    data: { a: 1 },
  };
  const { manifest: written, changed } = writeMetadataTexts(manifest);
  expect(written).toBe(manifest);
  expect(changed).toEqual([]);
});

test('tells of ten places at most', () => {
  const places = Array.from({ length: 12 }, (_, index) => `metadata.labels.l${index}`);
  expect(describeTexts(places)).toMatch(/texts: metadata\.labels\.l0, .*metadata\.labels\.l9 and 2 more$/);
});
