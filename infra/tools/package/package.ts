import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { buildLocal } from '../build/build.ts';
import { readSbom } from '../sbom/sbom.ts';

/** Files that are packed as they are. The Go sources are of the test cluster, which is built where there is Go. */
const copied = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'cli/busdriver',
  'docs',
  'test/cluster',
] as const;

/** Whether a file of those folders is packed. */
const isPacked = (file: string): boolean =>
  !/_test\.go$|\/test\/cluster\/test(\/|$)|openapi\.json$/.test(file);

/** What to make a package of. */
export interface MakePackageOptions {
  /** Busdriver's own folder, absolute. */
  readonly root: string;
  /** Where the package goes, absolute. What is there is replaced. */
  readonly outputDir: string;
  /** The image that `agent enroll` names: one that there is. Default: none, and it asks for one. */
  readonly agentImage?: string;
}

/**
 * Makes the folder that `npm pack` packs: `npm start`, the demo and the command line as bundles, which need Node 24 and nothing else. It
 * has no dependencies, so that installing it fetches nothing and compiles nothing.
 *
 * @throws Error when the sources do not compile, or npm cannot list what they are made of
 */
export async function makePackage({ root, outputDir, agentImage }: MakePackageOptions): Promise<void> {
  await rm(outputDir, { recursive: true, force: true });
  const server = path.join(outputDir, 'lib', 'server');
  const cli = path.join(outputDir, 'lib', 'cli');
  await buildLocal({ root, outputDir: server });
  await buildLocal({ root, outputDir: cli, entries: ['cli/main.ts'], isOneFile: true });
  for (const folder of [server, cli]) await removeOthers(folder);
  for (const file of copied) {
    const target = path.join(outputDir, file);
    await mkdir(path.dirname(target), { recursive: true });
    await cp(path.join(root, file), target, { recursive: true, filter: isPacked });
  }
  await chmod(path.join(outputDir, 'cli', 'busdriver'), 0o755);
  await writeJson(path.join(outputDir, 'sbom.cdx.json'), await readSbom(root));
  await writeJson(path.join(outputDir, 'package.json'), { ...(await toManifest(root)), agentImage });
}

/** Runs `npm pack`. @returns the file, beside the folder that it packs */
export async function packNpm(folder: string): Promise<string> {
  const target = path.dirname(folder);
  const { stdout } = await promisify(execFile)('npm', [
    'pack',
    '--json',
    '--pack-destination',
    target,
    folder,
  ]);
  return path.join(target, JSON.parse(stdout)[0].filename);
}

/** Leaves bundles alone: their source maps are twice as large, and stacks name functions without them. */
async function removeOthers(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true }))
    if (/\.(map|json|lock)$/.test(name)) await rm(path.join(folder, name), { force: true });
}

async function toManifest(root: string): Promise<object> {
  const { name, version, description, keywords, license, type, bin } = JSON.parse(
    await readFile(path.join(root, 'package.json'), 'utf8'),
  );
  return { name, version, description, keywords, license, type, engines: { node: '>=24' }, bin };
}

async function writeJson(file: string, value: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}
