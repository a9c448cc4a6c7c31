import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findGo, GoUnavailableError, getGo, minimumGo } from '#infra/tools/test-cluster/go-toolchain.ts';
import { makeTempDir, writeProgram } from '#test/support/run/temp-dir.ts';

test('a new enough Go is found with its version and platform', async () => {
  await using dir = await makeTempDir();
  const command = await writeFakeGo(dir.path, 'go version go1.27rc1 X:boringcrypto linux/arm64');
  expect(await getGo(command)).toEqual({ command, version: '1.27rc1', platform: 'linux/arm64' });
});

test('a missing Go is undefined, or an error that says what to do', async () => {
  const command = '/nowhere/go';
  expect(await findGo(command)).toBeUndefined();
  await expect(getGo(command)).rejects.toThrow(GoUnavailableError);
  await expect(getGo(command)).rejects.toThrow(
    /'\/nowhere\/go' was not found: install Go >= 1\.26 .*--kubeconfig FILE/,
  );
});

test('an old Go is found, and refused by its version', async () => {
  await using dir = await makeTempDir();
  const command = await writeFakeGo(dir.path, 'go version go1.25.9 linux/amd64');
  expect(await findGo(command)).toMatchObject({ version: '1.25.9' });
  await expect(getGo(command)).rejects.toThrow(/is Go 1\.25\.9: install Go >= 1\.26/);
});

test('a command of that name that is not Go counts as missing', async () => {
  await using dir = await makeTempDir();
  expect(await findGo(await writeFakeGo(dir.path, 'go: a board game'))).toBeUndefined();
});

test('the minimum is what go.mod of the test control plane asks for', async () => {
  const root = path.resolve(import.meta.dirname, '../../../..');
  const goMod = await readFile(path.join(root, 'test/cluster/go.mod'), 'utf8');
  expect(goMod).toMatch(new RegExp(`^go ${minimumGo.major}\\.${minimumGo.minor}\\.`, 'm'));
});

function writeFakeGo(dir: string, answer: string): Promise<string> {
  return writeProgram(path.join(dir, 'go'), `echo '${answer}'`);
}
