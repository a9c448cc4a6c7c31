import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { pack } from '#infra/tools/images/archive.ts';
import { OciLayout } from '#infra/tools/images/oci-layout.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const config = { User: '1000:1000', Env: [], Entrypoint: ['node'], Labels: {} };

test('images of several architectures share layers, and are the same each time', async () => {
  await using temp = await makeTempDir();
  const make = async (name: string) => {
    const layout = new OciLayout(path.join(temp.path, name));
    const layers = [await layout.addLayer(await pack([{ name: 'busdriver/main.js', body: '1' }]))];
    const platforms = ['amd64', 'arm64'].map((architecture) => ({ architecture, layers, config }));
    const digests = [await layout.addImage('one', platforms), await layout.addImage('other', platforms)];
    await layout.finish();
    return digests;
  };
  const [digest = '', other] = await make('first');
  expect([other, ...(await make('second'))]).toEqual([digest, digest, digest]);
  const read = async (file: string) =>
    JSON.parse(await readFile(path.join(temp.path, 'first', file), 'utf8'));
  const { manifests } = await read(`blobs/${digest.replace(':', '/')}`);
  expect(manifests.map(({ platform }: { readonly platform: object }) => platform)).toEqual([
    { os: 'linux', architecture: 'amd64' },
    { os: 'linux', architecture: 'arm64' },
  ]);
  // The layer, the index, and of each architecture a manifest and a configuration.
  expect(await readdir(path.join(temp.path, 'first/blobs/sha256'))).toHaveLength(6);
  expect((await read('index.json')).manifests).toHaveLength(2);
});
