import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';

const root = path.resolve(import.meta.dirname, '../..');
const outputDir = path.join(root, 'dist', 'local');
const stampFile = path.join(outputDir, 'build.json');

/** CommonJS packages in an ES module bundle need a `require` for Node's own modules. */
const banner =
  "import { createRequire as makeRequire } from 'node:module';\nconst require = makeRequire(import.meta.url);";

/** Everything that the last build read, with its time of change: as long as they match, it is up to date. */
interface Stamp {
  readonly options: string;
  readonly inputs: { readonly [file: string]: number };
}

function getOptions(): BuildOptions {
  const entries = ['main', 'demo'].map((name) => path.join(import.meta.dirname, `${name}.ts`));
  return {
    absWorkingDir: root,
    entryPoints: entries.filter((file) => existsSync(file)),
    outdir: outputDir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    conditions: ['module'],
    // Has a native part that it finds beside itself.
    external: ['classic-level'],
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    sourcemap: true,
    legalComments: 'none',
    banner: { js: banner },
    chunkNames: 'chunks/[name]-[hash]',
    metafile: true,
    logLevel: 'warning',
  };
}

async function isUpToDate(options: BuildOptions): Promise<boolean> {
  try {
    const stamp: Stamp = JSON.parse(await readFile(stampFile, 'utf8'));
    if (stamp.options !== JSON.stringify(options)) return false;
    const current = await readTimes(Object.keys(stamp.inputs));
    return Object.entries(stamp.inputs).every(([file, time]) => current[file] === time);
  } catch {
    return false;
  }
}

async function readTimes(files: readonly string[]): Promise<{ [file: string]: number }> {
  const times = files.map(async (file) => [file, (await stat(path.join(root, file))).mtimeMs] as const);
  return Object.fromEntries(await Promise.all(times));
}

function listInputs({ inputs }: Metafile): readonly string[] {
  const own = ['package-lock.json', path.relative(root, import.meta.filename)];
  return [
    ...own,
    ...Object.keys(inputs).filter((file) => !file.startsWith('node_modules/') && !file.includes(':')),
  ];
}

const options = getOptions();
if (!(await isUpToDate(options))) {
  await rm(outputDir, { recursive: true, force: true });
  const { metafile } = await build(options);
  const stamp: Stamp = {
    options: JSON.stringify(options),
    inputs: await readTimes(listInputs(metafile as Metafile)),
  };
  await mkdir(outputDir, { recursive: true });
  await writeFile(stampFile, JSON.stringify(stamp));
}
