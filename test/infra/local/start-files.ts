import { lstat, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TempDir } from '#test/support/run/temp-dir.ts';

/** Spinnaker YAML without any account. */
export const noAccounts = 'kubernetes: {enabled: true, accounts: []}';

/** Writes Spinnaker YAML. @returns the file */
export async function writeConfig(temp: TempDir, yaml: string): Promise<string> {
  const file = path.join(temp.path, 'clouddriver.yml');
  await writeFile(file, yaml);
  return file;
}

/** What `writeToken` writes. */
export const token = 'correct-horse-battery';

/** Writes a file for `--token-file`. @returns its path */
export async function writeToken(temp: TempDir): Promise<string> {
  const file = path.join(temp.path, 'token');
  await writeFile(file, token, { mode: 0o600 });
  return file;
}

/** Spinnaker YAML with the account `prod`, whose cluster nobody runs. */
export async function makeAccount(temp: TempDir, user: object = { token: 't' }): Promise<string> {
  const kubeconfig = path.join(temp.path, 'kubeconfig');
  await writeFile(kubeconfig, makeKubeconfig('one', user));
  return `kubernetes: {enabled: true, accounts: [{name: prod, context: one, kubeconfigFile: ${kubeconfig}}]}`;
}

/** Modes of a folder (`''`) and of all that it holds, by path from there; links aside. */
export async function readModes(dir: string): Promise<Map<string, number>> {
  const modes = new Map([['', (await stat(dir)).mode & 0o777]]);
  for (const name of await readdir(dir, { recursive: true })) {
    // SQLite and etcd remove files meanwhile.
    const found = await lstat(path.join(dir, name)).catch(() => undefined);
    if (found !== undefined && !found.isSymbolicLink()) modes.set(name, found.mode & 0o777);
  }
  return modes;
}

/** What is neither 0600 nor 0700. */
export function findOpen(modes: ReadonlyMap<string, number>): string[] {
  const open = [...modes].filter(([, mode]) => mode !== 0o600 && mode !== 0o700);
  return open.map(([name, mode]) => `${name} ${mode.toString(8)}`);
}

function makeKubeconfig(context: string, user: object): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: context, context: { cluster: 'c', user: 'u' } }],
  });
}
