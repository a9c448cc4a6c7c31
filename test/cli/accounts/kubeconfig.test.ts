import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readKubeconfig } from '#cli/accounts/kubeconfig.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'test',
  contexts: [
    { name: 'test', context: { cluster: 'test', user: 'test', namespace: 'shop' } },
    { name: 'prod', context: { cluster: 'prod', user: 'prod' } },
    { name: 'torn', context: { cluster: 'gone', user: 'test' } },
  ],
  clusters: [
    { name: 'test', cluster: { server: 'https://test', 'certificate-authority': 'pki/ca.pem' } },
    { name: 'prod', cluster: { server: 'https://prod' } },
  ],
  users: [
    {
      name: 'test',
      user: { 'client-certificate': 'cert.pem', 'client-key-data': 'a2V5', 'client-key': 'none.pem' },
    },
    { name: 'prod', user: { token: 'planted-prod-token' } },
  ],
};

async function writeKubeconfig(folder: string, value: unknown = kubeconfig): Promise<string> {
  await mkdir(path.join(folder, 'pki'));
  await writeFile(path.join(folder, 'pki', 'ca.pem'), 'authority');
  await writeFile(path.join(folder, 'cert.pem'), 'certificate');
  const file = path.join(folder, 'config');
  await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value));
  return file;
}

describe('a kubeconfig that is sent', () => {
  it('has what its context needs, files within it, and nothing of other clusters', async () => {
    await using folder = await makeTempDir();
    const text = await readKubeconfig(await writeKubeconfig(folder.path));

    expect(text).not.toContain('planted');
    expect(parse(text)).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'shop' } }],
      clusters: [
        {
          name: 'test',
          cluster: { server: 'https://test', 'certificate-authority-data': toBase64('authority') },
        },
      ],
      users: [
        {
          name: 'test',
          user: { 'client-certificate-data': toBase64('certificate'), 'client-key-data': 'a2V5' },
        },
      ],
    });
  });

  it('is of the context, the cluster and the user that are chosen', async () => {
    await using folder = await makeTempDir();
    const file = await writeKubeconfig(folder.path);
    const text = await readKubeconfig(file, { context: 'torn', cluster: 'prod', user: 'prod' });
    expect(parse(text)).toMatchObject({
      'current-context': 'torn',
      contexts: [{ name: 'torn', context: { cluster: 'prod', user: 'prod' } }],
      clusters: [{ name: 'prod' }],
      users: [{ name: 'prod' }],
    });
  });

  it.each([
    [kubeconfig, { context: 'dev' }, 'has no context "dev"', 'choose one of: test, prod, torn'],
    [kubeconfig, { context: 'torn' }, 'has no cluster "gone"', 'choose one of: test, prod'],
    [
      { ...kubeconfig, 'current-context': '' },
      {},
      'does not say which context is meant',
      'choose one of: test, prod, torn',
    ],
    [{ users: [] }, {}, 'is no kubeconfig: it has no contexts', 'give a kubeconfig, such as ~/.kube/config'],
    ['token: "planted', {}, 'is no YAML', 'give a kubeconfig, such as ~/.kube/config'],
    [
      `contexts: [${' '.repeat(1024 * 1024)}]`,
      {},
      'has more than 1048576 bytes: no more are read',
      undefined,
    ],
  ])('is refused: %#', async (...[value, choice, message, next]) => {
    await using folder = await makeTempDir();
    const file = await writeKubeconfig(folder.path, value);
    await expect(readKubeconfig(file, choice)).rejects.toMatchObject({ message: `${file} ${message}`, next });
  });

  it('names a file that is not there', async () => {
    await using folder = await makeTempDir();
    const file = path.join(folder.path, 'none');
    await expect(readKubeconfig(file)).rejects.toThrow(`${file} cannot be read: ENOENT`);
  });
});

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
