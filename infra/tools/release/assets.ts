import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { compress, type Entry, pack, readFolder, zip } from '../images/archive.ts';
import type { Images } from '../images/images.ts';
import { makePackage, packNpm } from '../package/package.ts';

const run = promisify(execFile);

/** What assets are made of. */
export interface Release {
  /** Busdriver's own folder, absolute. */
  readonly root: string;
  readonly version: string;
  /** The images of the same release; undefined where none were made. */
  readonly images: Images | undefined;
  /** Where the images will be, such as `ghcr.io/example`. */
  readonly registry: string | undefined;
}

/** What CHANGELOG.md says of a version, without the heading. @throws Error where its first section is about another one */
export function readNotes(changelog: string, version: string): string {
  const [, section = ''] = changelog.split(/^## /m);
  const [heading = '', ...lines] = section.split('\n');
  if (heading.split(' ')[0] === version) return `${lines.join('\n').trim()}\n`;
  throw new Error(
    `CHANGELOG.md: expected the first section to be about ${version}, as package.json says, not '${heading}'`,
  );
}

/** What `npm install` takes. Its command line names the image of agents, where a registry will have it. */
export async function packPackage(release: Release, folder: string): Promise<Uint8Array> {
  const image = toImage(release, 'busdriver-agent');
  await makePackage({ root: release.root, outputDir: folder, ...(image && { agentImage: image }) });
  return readFile(await packNpm(folder));
}

/** The test control plane of a platform as a package that `busdriver start` finds beside its own. */
export async function packCluster(
  { version }: Pick<Release, 'version'>,
  { name, cpu, binaries }: { readonly name: string; readonly cpu: string; readonly binaries: string },
): Promise<Uint8Array> {
  const about = {
    description: 'The Kubernetes control plane that busdriver start runs without a kubeconfig',
  };
  const manifest = { name, version, ...about, license: 'Apache-2.0', os: ['linux'], cpu: [cpu] };
  await writeFile(path.join(binaries, 'package.json'), toJson(manifest));
  return readFile(await packNpm(binaries));
}

/**
 * The templates of `npm run synth`, source maps for `npm run traces`, and in `assets/` what templates name in the bucket of the CDK's
 * bootstrap: `aws s3 sync` brings them there.
 */
export async function packTemplates(root: string, folder: string): Promise<Uint8Array> {
  await run('npm', ['run', '--silent', 'synth', '--', '--output', folder], { cwd: root });
  const names = await readdir(folder);
  const tables = names.filter((name) => name.endsWith('.assets.json'));
  const entries = new Map<string, Entry>();
  for (const table of tables) {
    for (const { source, destinations } of await readAssets(path.join(folder, table))) {
      const file = path.join(folder, source.path);
      const body = source.packaging === 'zip' ? await zip(await readFolder(file)) : await readFile(file);
      for (const { objectKey } of Object.values(destinations))
        entries.set(objectKey, { name: `assets/${objectKey}`, body });
    }
  }
  for (const name of names.filter((each) => /^[^.]+\.template\.json$/.test(each)))
    entries.set(name, { name, body: await readFile(path.join(folder, name)) });
  const maps = await readFolder(path.join(folder, 'source-maps'), 'source-maps/');
  return compress(await pack([...entries.values(), ...maps]));
}

/** What of the CDK's table of assets (cloud-assembly-schema, AssetManifest) is read. */
interface FileAsset {
  readonly source: { readonly path: string; readonly packaging: 'zip' | 'file' };
  readonly destinations: { readonly [id: string]: { readonly objectKey: string } };
}

async function readAssets(file: string): Promise<readonly FileAsset[]> {
  const { files }: { files: { [id: string]: FileAsset } } = JSON.parse(await readFile(file, 'utf8'));
  return Object.values(files);
}

/** The recipes for Kustomize, with this release's images in them. */
export async function packRecipes(release: Release): Promise<Uint8Array> {
  const folder = path.join(release.root, 'infra/kubernetes');
  const recipes = ['manifests', 'one-replica'].map((name) => readFolder(path.join(folder, name), `${name}/`));
  const [name = '', digest] = toImage(release, 'busdriver')?.split('@') ?? [];
  const image = digest ? `newName: ${name}\n    digest: ${digest}` : `newTag: ${release.version}`;
  const entries = (await Promise.all(recipes)).flat().map((entry) => {
    if (!entry.name.endsWith('kustomization.yaml')) return entry;
    return { ...entry, body: String(entry.body).replace(/newTag: .*/, image) };
  });
  return compress(await pack(entries));
}

/** `ghcr.io/example/busdriver@sha256:…`; undefined where no registry will have it. */
function toImage({ images, registry }: Release, name: keyof Images['digests']): string | undefined {
  return images && registry && `${registry}/${name}@${images.digests[name]}`;
}

/** Text of a file of JSON. */
export function toJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
