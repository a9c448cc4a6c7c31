import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkSessionKeyFile } from '#agents/identity/session-key-file.ts';
import { writeSessionKey } from '#test/support/agents/session-key.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const run = promisify(execFile);

const toJwk = (curve: string): string =>
  JSON.stringify(generateKeyPairSync('ec', { namedCurve: curve }).privateKey.export({ format: 'jwk' }));

test.each([0o600, 0o400, 0o440])('a key of ES256 with mode %o is taken', async (mode) => {
  await using dir = await makeTempDir();
  const file = await writeSessionKey(dir.path);
  await chmod(file, mode);
  await checkSessionKeyFile(file, '--session-key-file');
});

test.each([0o644, 0o660, 0o604])('one with mode %o is refused', async (mode) => {
  await using dir = await makeTempDir();
  const file = await writeSessionKey(dir.path);
  await chmod(file, mode);
  await expect(checkSessionKeyFile(file, '--session-key-file')).rejects.toThrow(
    `--session-key-file: ${file} has mode 0${mode.toString(8)}: expected 0600, 0400 or 0440`,
  );
});

test('a file that is missing, or holds another key, is refused without a word of what is in it', async () => {
  await using dir = await makeTempDir();
  const file = join(dir.path, 'key');
  const check = () => checkSessionKeyFile(file, 'BUSDRIVER_AGENT_KEY_FILE');
  await expect(check()).rejects.toThrow(`BUSDRIVER_AGENT_KEY_FILE: ${file} cannot be read: ENOENT`);
  const publicKey = JSON.parse(toJwk('P-256'));
  delete publicKey.d;
  const texts = ['', 'planted', '{"planted":1}', toJwk('P-384'), JSON.stringify(publicKey)];
  for (const text of texts) {
    await writeFile(file, text, { mode: 0o600 });
    const error = await check().catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(
      /is no private key of ES256: expected a JWK with kty EC, crv P-256, x, y and d$/,
    );
  }
  await writeFile(file, ' '.repeat(5_000));
  await expect(check()).rejects.toThrow('has 5000 bytes: expected 4096 at most');
});

test('the command of the page makes one that is taken', async () => {
  await using dir = await makeTempDir();
  const page = join(import.meta.dirname, '../../../../docs/kubernetes-home.md');
  const [, program = ''] = /^node --eval '([^']+)' \|$/m.exec(await readFile(page, 'utf8')) ?? [];
  const { stdout } = await run(process.execPath, ['--eval', program]);
  const file = join(dir.path, 'key');
  await writeFile(file, stdout, { mode: 0o440 });
  await checkSessionKeyFile(file, '--session-key-file');
});
