import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A folder of the test's own; disposing removes it with all it holds. */
export interface TempDir extends AsyncDisposable {
  readonly path: string;
}

/** Makes an empty folder below the system's temporary folder. */
export async function makeTempDir(): Promise<TempDir> {
  const dir = await mkdtemp(path.join(tmpdir(), 'busdriver-test-'));
  return { path: dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

/**
 * Writes an executable shell script.
 *
 * @param file its absolute path
 * @param script lines for `sh`
 * @returns the path
 */
export async function writeProgram(file: string, script: string): Promise<string> {
  await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return file;
}
