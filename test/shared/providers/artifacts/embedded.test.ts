import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { openEmbeddedSources } from '#providers/artifacts/embedded.ts';
import { neverAborted, readBytes } from './options.ts';

const [account] = openEmbeddedSources().sources;

async function read(artifact: Artifact): Promise<Uint8Array> {
  const content = await account?.fetch(artifact, neverAborted());
  return readBytes(content?.body);
}

test('is the account that Deck writes for embedded artifacts', () => {
  expect(account).toMatchObject({
    name: 'embedded-artifact',
    type: 'artifacts-embedded',
    types: ['embedded/base64', 'remote/base64'],
  });
});

test.each([
  ['embedded/base64', true],
  ['embedded/map/base64', true],
  ['remote/base64', true],
  ['remote/map/base64', true],
  ['embedded', false],
  ['http/file', false],
  ['not-embedded/base64', false],
  ['', false],
])('answers for type %s: %s', (type, handled) => {
  expect(account?.handles(type)).toBe(handled);
});

test('gives back any bytes, padded or not', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array(),
      fc.constantFrom('embedded/base64', 'remote/base64'),
      async (bytes, type) => {
        const reference = Buffer.from(bytes).toString('base64');
        for (const text of [reference, reference.replaceAll('=', '')]) {
          expect(Buffer.from(await read({ type, reference: text })).equals(bytes)).toBe(true);
        }
      },
    ),
  );
});

test('reads megabytes', async () => {
  const bytes = Buffer.alloc(24 * 2 ** 20, 7);
  const content = await read({ type: 'embedded/base64', reference: bytes.toString('base64') });
  expect(bytes.equals(content)).toBe(true);
});

test.each([
  undefined,
  'A',
  'AB=',
  'AB===',
  'A===',
  '=',
  'AAAA=',
  'AA\nAA',
  'AA AA',
  '-_-_',
  'ref://app/hash',
])('refuses the reference %j without repeating it', async (reference) => {
  const artifact = { type: 'remote/base64', ...(reference === undefined ? {} : { reference }) };
  await expect(read(artifact)).rejects.toThrow(
    new InvalidInputError('The reference of an artifact of type remote/base64 must be base 64'),
  );
});

test('refuses embedded types that it cannot read', async () => {
  await expect(read({ type: 'embedded/map/base64', reference: '' })).rejects.toThrow(
    "Embedded type 'embedded/map/base64' is not handled: expected embedded/base64 or remote/base64",
  );
});
