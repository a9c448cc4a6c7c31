import { access } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

/** A kubeconfig whose user is made known by a program that leaves a file behind. */
function runProgram(file: string): string {
  return JSON.stringify({
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'main', user: 'main' } }],
    clusters: [{ name: 'main', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [
      {
        name: 'main',
        user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'touch', args: [file] } },
      },
    ],
  });
}

async function create(system: System, definition: object): Promise<{ status: number; text: string }> {
  const response = await system.fetch('/credentials', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'kubernetes', ...definition }),
  });
  return { status: response.status, text: await response.text() };
}

async function use(system: System, account: string): Promise<string> {
  return (await system.fetch(`/manifests/${account}/default/configMap%20x`)).text();
}

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

describe('an account that was made by the API', () => {
  it('uses no file, program or pod of the machine', async () => {
    await using dir = await makeTempDir();
    const proof = path.join(dir.path, 'proof');
    // So that one of them can be hidden in what looks like a secret.
    await using system = await startSystem({
      settings: { busdriver: { accounts: { allowPlainSecrets: true } } },
    });
    for (const fields of [{}, { kubeconfigFile: '/etc/hostname' }, { serviceAccount: true }]) {
      const { status, text } = await create(system, { name: 'own', ...fields });
      expect(status, text).toBe(400);
      expect(text).toContain('only where busdriver.accounts.allowMachineAccess is true');
    }
    const created = await create(system, { name: 'program', kubeconfigContents: runProgram(proof) });
    expect(created.status, created.text).toBe(200);
    expect(await use(system, 'program')).toContain('exec (touch), which accounts made by an API refuse');
    const hidden = `encrypted:noop!v:${runProgram(proof)}`;
    expect((await create(system, { name: 'hidden', kubeconfigContents: hidden })).status).toBe(200);
    expect(await use(system, 'hidden')).toContain('exec (touch), which accounts made by an API refuse');
    expect(await isThere(proof)).toBe(false);
  });

  it('uses them where the settings allow it', async () => {
    await using dir = await makeTempDir();
    const proof = path.join(dir.path, 'proof');
    await using system = await startSystem({
      settings: { busdriver: { accounts: { allowMachineAccess: true } } },
    });
    const created = await create(system, { name: 'program', kubeconfigContents: runProgram(proof) });
    expect(created.status, created.text).toBe(200);
    await use(system, 'program');
    expect(await isThere(proof)).toBe(true);
  });
});
