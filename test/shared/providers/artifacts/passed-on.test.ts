import { expect, test } from 'vitest';
import { openPassedOnSources } from '#providers/artifacts/passed-on.ts';
import { neverAborted } from './options.ts';

const { sources } = openPassedOnSources();

test.each([
  ['custom-artifact', 'custom/object'],
  ['docker-registry', 'docker/image'],
  ['kubernetes', 'kubernetes/configMap'],
  ['kubernetes', 'kubernetes/secret'],
])('%s is listed for %s, and says that nothing is downloaded', async (name, type) => {
  const account = sources.find((source) => source.name === name);
  expect(account?.types).toContain(type);
  expect(account?.handles(type)).toBe(true);
  await expect(account?.fetch({ type, reference: 'x' }, neverAborted())).rejects.toThrow(
    `Artifacts of account '${name}' cannot be downloaded: they are passed on to the platform`,
  );
});
