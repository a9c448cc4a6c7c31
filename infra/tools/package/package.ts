import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { buildLocal, localEntries } from '../build/build.ts';
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

/** What tests of packages with providers import. */
const testing = 'test/support/conformance/testing.ts';

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
  const entries = [...localEntries, testing];
  await buildLocal({ root, outputDir: server, entries, absent: ['vitest'] });
  await buildLocal({ root, outputDir: cli, entries: ['cli/main.ts'], isOneFile: true });
  for (const folder of [server, cli]) await removeOthers(folder);
  for (const file of copied) {
    const target = path.join(outputDir, file);
    await mkdir(path.dirname(target), { recursive: true });
    await cp(path.join(root, file), target, { recursive: true, filter: isPacked });
  }
  await writeTypes(root, outputDir);
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

/** Writes the types of what packages with providers import, and of nothing else. */
async function writeTypes(root: string, outputDir: string): Promise<void> {
  const config = path.join(outputDir, 'tsconfig.json');
  const all = path.join(outputDir, 'all-types');
  const sources = ['shared/provider-kit/kit.ts', testing];
  await writeJson(config, {
    extends: path.join(root, 'tsconfig.json'),
    compilerOptions: {
      ...{ noEmit: false, noCheck: true, declaration: true, emitDeclarationOnly: true },
      ...{ rootDir: root, outDir: all, typeRoots: [path.join(root, 'node_modules/@types')] },
    },
    include: [],
    files: sources.map((file) => path.join(root, file)),
  });
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '--project', config]);
  const needed = new Set(sources);
  for (const source of needed) {
    const file = source.replace(/ts$/, 'd.ts');
    const folder = path.posix.dirname(source);
    const text = await readFile(path.join(all, file), 'utf8');
    // Names of subjects are those of this folder's package.json alone.
    const relative = text.replaceAll(/(?<=['"])(#|\.\.?\/)([\w/.-]+)\.ts(?=['"])/g, (_, start, name) => {
      const imported = path.posix.join(start === '#' ? 'shared' : path.posix.join(folder, start), name);
      needed.add(`${imported}.ts`);
      return `./${path.posix.relative(folder, imported)}.js`;
    });
    const target = path.join(outputDir, 'lib', 'types', file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, relative);
  }
  for (const made of [config, all]) await rm(made, { recursive: true });
}

async function toManifest(root: string): Promise<object> {
  const { devDependencies, dependencies, ...all } = JSON.parse(
    await readFile(path.join(root, 'package.json'), 'utf8'),
  );
  const { name, version, description, keywords, license, type, bin, exports } = all;
  const entries = Object.entries<string>(exports).map(([entry, source]) => [
    entry,
    {
      types: `./lib/types/${source.replace(/^\.\/(.*)\.ts$/, '$1.d.ts')}`,
      default: `./lib/server/${path.basename(source, '.ts')}.js`,
    },
  ]);
  return {
    ...{ name, version, description, keywords, license, type, engines: { node: '>=24' }, bin },
    exports: Object.fromEntries(entries),
    // Whoever writes providers has them; types of the kit name them.
    peerDependencies: { vitest: devDependencies.vitest, zod: dependencies.zod },
    peerDependenciesMeta: { vitest: { optional: true }, zod: { optional: true } },
  };
}

async function writeJson(file: string, value: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}
