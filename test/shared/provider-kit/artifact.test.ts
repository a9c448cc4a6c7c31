import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  type Artifact,
  artifactDepthMax,
  artifactTextLengthMax,
  getArtifactKey,
  parseArtifact,
  toArtifactView,
} from '#provider-kit/artifact.ts';

const isSameArtifact = (one: Artifact, other: Artifact) => getArtifactKey(one) === getArtifactKey(other);

const image: Artifact = {
  type: 'docker/image',
  name: 'ghcr.io/acme/cart',
  version: '1.4',
  location: 'ghcr.io',
  reference: 'ghcr.io/acme/cart:1.4',
};

const text = fc.option(fc.string({ maxLength: 4 }), { nil: undefined });
const artifacts: fc.Arbitrary<Artifact> = fc
  .record({ type: text, name: text, version: text, location: text, reference: text })
  .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));

describe('parseArtifact', () => {
  test('takes the known fields', () => {
    const others = { artifactAccount: 'docker', provenance: 'igor', uuid: '1f' };
    const all = { ...image, customKind: true, metadata: { account: 'prod' }, ...others };
    expect(parseArtifact(all)).toEqual(all);
  });

  test('folds unknown fields into the metadata, where an explicit entry wins', () => {
    const own = { type: 'a', id: 7, tags: ['x'], toString: 1 };
    const parsed = parseArtifact({ ...own, metadata: { id: 8, more: true } });
    expect(parsed).toEqual({ type: 'a', metadata: { id: 8, tags: ['x'], toString: 1, more: true } });
  });

  test('ignores an incoming kind', () => {
    expect(parseArtifact({ type: 'a', kind: 'docker' })).toEqual({ type: 'a', metadata: {} });
  });

  test('drops nulls wherever they are', () => {
    const parsed = parseArtifact({ type: null, metadata: { a: null, b: { c: null } }, extra: null });
    expect(parsed).toEqual({ metadata: { b: {} } });
    expect(parseArtifact({ metadata: null })).toEqual({ metadata: {} });
  });

  test('turns scalars into the type of the field', () => {
    const parsed = parseArtifact({ name: 5, version: true, customKind: 'true' });
    expect(parsed).toEqual({ name: '5', version: 'true', customKind: true, metadata: {} });
  });

  test.each([
    [{ name: ['x'] }, /artifact: name: expected a string/],
    [{ metadata: 'x' }, /artifact: metadata: expected an object/],
    [{ customKind: 'perhaps' }, /artifact: customKind: expected true or false/],
    ['docker', /artifact: expected an object/],
    [[], /artifact: expected an object/],
    [null, /artifact: expected a value/],
  ])('refuses %j', (value, message) => {
    expect(() => parseArtifact(value)).toThrow(InvalidInputError);
    expect(() => parseArtifact(value)).toThrow(message);
  });

  /** A value with `levels` objects around it. */
  function nest(levels: number): JsonObject {
    let value: JsonObject = {};
    for (let level = 1; level < levels; level += 1) value = { a: value };
    return value;
  }

  test.each(['type', 'name', 'version', 'location', 'artifactAccount', 'provenance', 'uuid'])(
    'refuses a %s beyond the limit by name, without repeating it',
    (field) => {
      const longest = 'x'.repeat(artifactTextLengthMax);
      expect(parseArtifact({ [field]: longest })).toMatchObject({ [field]: longest });
      expect(() => parseArtifact({ [field]: `${longest}x` })).toThrow(
        new InvalidInputError(`artifact: ${field}: expected at most 8192 characters, got 8193`),
      );
    },
  );

  test('takes megabytes as a reference: that of an embedded artifact is its content', () => {
    const reference = 'x'.repeat(4 * 2 ** 20);
    expect(parseArtifact({ reference }).reference).toBe(reference);
  });

  test.each(['metadata', 'anything'])('refuses a %s that is too deep, however deep it is', (field) => {
    expect(() => parseArtifact({ [field]: nest(artifactDepthMax) })).not.toThrow();
    for (const levels of [artifactDepthMax + 1, 200_000]) {
      expect(() => parseArtifact({ [field]: nest(levels) })).toThrow(
        new InvalidInputError('artifact: metadata: expected at most 64 levels'),
      );
    }
  });

  test('lets no member reach the prototype', () => {
    const parsed = parseArtifact(JSON.parse('{"__proto__": {"polluted": true}, "type": "a"}'));
    expect(parsed).toEqual({ type: 'a', metadata: {} });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('toArtifactView', () => {
  test('always shows customKind and metadata, and nothing that is absent', () => {
    const type = 'docker/image';
    expect(toArtifactView({ type })).toEqual({ type, customKind: false, metadata: {} });
    expect(JSON.parse(JSON.stringify(toArtifactView({})))).toEqual({ customKind: false, metadata: {} });
  });

  test('shows empty texts: an unversioned artifact has the version ""', () => {
    const unversioned = { ...image, version: '', customKind: true, metadata: { a: 1 } };
    expect(toArtifactView(unversioned)).toEqual(unversioned);
  });

  test('is read back as the same artifact', () => {
    fc.assert(
      fc.property(artifacts, (artifact) => {
        const view = toArtifactView(artifact);
        expect(toArtifactView(parseArtifact(view))).toEqual(view);
        expect(isSameArtifact(parseArtifact(view), artifact)).toBe(true);
      }),
    );
  });
});

describe('getArtifactKey', () => {
  test.each(['type', 'name', 'version', 'location', 'reference'] as const)('minds the %s', (field) => {
    expect(isSameArtifact(image, { ...image, [field]: 'other' })).toBe(false);
  });

  test('minds nothing else', () => {
    const others = { metadata: { a: 1 }, artifactAccount: 'x', uuid: 'y' };
    expect(isSameArtifact(image, { ...image, ...others })).toBe(true);
  });

  test('takes an empty field for an absent one', () => {
    const { location: _location, ...rest } = image;
    expect(isSameArtifact(rest, { ...image, location: '' })).toBe(true);
  });
});
