import { type ChildProcessByStdio, execFile, execFileSync, spawn } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import type { Descriptor, RunConfig } from '#infra/tools/images/oci-layout.ts';

/** Why images cannot be made and run here; undefined where they can. */
export const imagesMissing = findReasonAgainst();

function findReasonAgainst(): string | undefined {
  try {
    execFileSync('mmdebstrap', ['--version']);
  } catch {
    return 'images are made with mmdebstrap (apt-get install mmdebstrap)';
  }
  return process.getuid?.() === 0 ? undefined : 'containers without a daemon are started by root';
}

/** `describe` for tests of images. Where none can be made they are skipped, with the reason as title. */
export function describeWithImages(name: string, define: () => void): void {
  if (imagesMissing === undefined) describe(name, define);
  else describe(name, () => test.skip(`skipped: ${imagesMissing}`));
}

/** An image that was unpacked. */
export interface UnpackedImage {
  /** Its files. */
  readonly root: string;
  readonly config: RunConfig;
  /** The digest by which it is pinned. */
  readonly digest: string;
}

/** Unpacks the image of this machine's architecture, as a runtime does. @param layout a folder in the layout of the OCI */
export async function unpackImage(layout: string, name: string, root: string): Promise<UnpackedImage> {
  const readJson = async (file: string) => JSON.parse(await readFile(path.join(layout, file), 'utf8'));
  const toFile = ({ digest }: Descriptor) => path.join('blobs', digest.replace(':', '/'));
  const { manifests } = await readJson('index.json');
  const image = manifests.find(
    ({ annotations }: Descriptor) => annotations?.['org.opencontainers.image.ref.name'] === name,
  );
  const index = await readJson(toFile(image));
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const one = index.manifests.find(({ platform }: Descriptor) => platform?.architecture === architecture);
  const manifest = await readJson(toFile(one));
  await mkdir(root, { recursive: true });
  for (const layer of manifest.layers)
    await promisify(execFile)('tar', ['-xzf', path.join(layout, toFile(layer)), '-C', root]);
  return { root, config: (await readJson(toFile(manifest.config))).config, digest: image.digest };
}

/**
 * Starts a container of an image, as Kubernetes does with our recipes: by its user, on a root that nobody writes. The network is this
 * machine's.
 *
 * @param volumes folders of this machine, by where they are mounted
 */
export function startContainer(
  { root, config }: UnpackedImage,
  command: readonly string[],
  volumes: { readonly [target: string]: string } = {},
): ChildProcessByStdio<null, Readable, Readable> {
  const mounts = Object.entries({ '/dev': '/dev', '/proc': '/proc', ...volumes }).map(
    ([target, source]) => `mkdir -p ${root}${target}; mount --rbind ${source} ${root}${target}`,
  );
  const script = [
    'set -e',
    `mount --bind ${root} ${root}`,
    // Folders to mount on are made by the runtime, before the root is closed.
    ...mounts,
    `mount -o remount,bind,ro ${root}`,
    `exec chroot --userspec=${config.User} ${root} "$@"`,
  ].join('\n');
  const env = {
    ...Object.fromEntries(config.Env.map((each) => each.split('='))),
    PATH: '/usr/sbin:/usr/bin',
  };
  const args = ['--mount', 'sh', '-c', script, 'sh', ...command];
  return spawn('unshare', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}
