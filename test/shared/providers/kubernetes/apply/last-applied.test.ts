import { describe, expect, test } from 'vitest';
import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import { getPath } from '#core/json.ts';
import {
  hasLastApplied,
  lastAppliedAnnotation,
  parseLastApplied,
  withLastApplied,
} from '#providers/kubernetes/apply/last-applied.ts';

const getText = (object: object) => getPath(object, 'metadata', 'annotations', lastAppliedAnnotation);

describe('withLastApplied', () => {
  test('writes the manifest into its annotation, with an empty map of annotations where it has none', () => {
    const manifest = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { a: '<' } };
    expect(getText(withLastApplied(manifest))).toBe(
      '{"apiVersion":"v1","data":{"a":"\\u003c"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"a"}}\n',
    );
    expect(manifest.metadata).toEqual({ name: 'a' });
  });

  test('ignores what the annotation held before, and keeps the others', () => {
    const annotations = { [lastAppliedAnnotation]: 'old', b: 'c', d: null };
    const result = withLastApplied({ metadata: { annotations } });
    expect(getText(result)).toBe('{"metadata":{"annotations":{"b":"c","d":""}}}\n');
    expect(getPath(result, 'metadata', 'annotations')).toMatchObject({ b: 'c', d: '' });
  });

  test('refuses annotations that are no texts, by name', () => {
    expect(() => withLastApplied({ metadata: { annotations: { a: true } } })).toThrow(
      new InvalidInputError('metadata.annotations.a: a string was expected'),
    );
    expect(() => withLastApplied({ metadata: { annotations: 'a' } })).toThrow(
      new InvalidInputError('metadata.annotations: an object was expected'),
    );
  });
});

describe('parseLastApplied', () => {
  const annotate = (text: string) => ({ metadata: { annotations: { [lastAppliedAnnotation]: text } } });

  test('gives back what was written', () => {
    const manifest = { metadata: { name: 'a', annotations: { b: 'c' } }, data: { x: '\u2028' } };
    expect(parseLastApplied(withLastApplied(manifest))).toEqual(manifest);
  });

  test('is empty where there is none', () => {
    for (const object of [{}, { metadata: {} }, annotate(''), annotate('null')]) {
      expect(parseLastApplied(object)).toEqual({});
    }
    expect(hasLastApplied({ metadata: { annotations: {} } })).toBe(false);
    expect(hasLastApplied(annotate(''))).toBe(true);
  });

  test('refuses what is no object, without showing it', () => {
    for (const text of ['{"a":', '[]', '"secret"']) {
      expect(() => parseLastApplied(annotate(text))).toThrow(FailedOperationError);
      expect(() => parseLastApplied(annotate(text))).not.toThrow(text);
    }
  });
});
