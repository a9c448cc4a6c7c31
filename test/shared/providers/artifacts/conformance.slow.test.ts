import { expect, test } from 'vitest';
import { kinds } from '#providers/artifacts/index.ts';
import { measureStreams } from '#test/support/conformance/artifact-streams.ts';
import { testArtifactType } from '#test/support/conformance/artifact-type.ts';
import { samples } from './type-samples.ts';

for (const sample of samples) testArtifactType(sample);

test('every kind of artifact account is held to testArtifactType()', () => {
  expect(new Set(samples.map(({ open }) => open))).toEqual(new Set(kinds));
});

test('100 MB stream through 40 MB of memory', async () => {
  // A repository is no stream of one file: its own test holds it to the same.
  const remote = samples.filter((sample) => sample.remote !== undefined && !sample.remote.toText);
  const { bytes, grownMiB } = await measureStreams(remote, 100 * 2 ** 20);
  expect(bytes).toEqual(remote.map(() => 100 * 2 ** 20));
  expect(grownMiB).toBeLessThan(40);
}, 300_000);
