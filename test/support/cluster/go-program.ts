import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import { GoUnavailableError, getGo } from '#infra/tools/test-cluster/go-toolchain.ts';

const run = promisify(execFile);

/** Milliseconds for a build: the first one downloads some 100 MB of Go modules and takes a minute or two. */
const buildTimeoutMs = 540_000;

const missing = await findReasonAgainst();

/** `describe` for tests that need a program made with Go. Without Go they are skipped, with the reason as title. */
export function describeWithGo(name: string, define: () => void): void {
  if (missing === undefined) describe(name, define);
  else describe(name, () => test.skip(`skipped: ${missing}`));
}

/**
 * Builds the Go program of a folder of `test`, or finds the earlier build of the same sources by the same Go, below
 * `~/.cache/busdriver`.
 *
 * @param name of the folder, which has `go.mod`, `go.sum` and `main.go`.
 * @returns path of the program.
 * @throws GoUnavailableError when Go is missing or too old
 */
export async function buildGoProgram(name: string): Promise<string> {
  const go = await getGo();
  const sources = path.join(import.meta.dirname, '../..', name);
  const hash = createHash('sha256').update(`${go.version} ${go.platform}\n`);
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(path.join(sources, file)));
  const cacheDir = path.join(homedir(), '.cache', 'busdriver', name);
  const program = path.join(cacheDir, hash.digest('hex').slice(0, 16));
  if (await isThere(program)) return program;
  await mkdir(cacheDir, { recursive: true });
  const output = await mkdtemp(`${program}.part-`);
  try {
    const env = { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' };
    const made = path.join(output, name);
    const args = ['build', '-buildvcs=false', '-trimpath', '-ldflags=-s -w', '-o', made, '.'];
    await run(go.command, args, { cwd: sources, env, timeout: buildTimeoutMs });
    // Of two that build at once the later one takes the place of the same.
    await rename(made, program);
  } finally {
    await rm(output, { recursive: true, force: true });
  }
  return program;
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function findReasonAgainst(): Promise<string | undefined> {
  try {
    await getGo();
    return undefined;
  } catch (error) {
    if (error instanceof GoUnavailableError) return error.message;
    throw error;
  }
}
