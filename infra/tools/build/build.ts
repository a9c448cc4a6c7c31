import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { wallClock } from '#platform/services/system.ts';
import { takeFileLock } from './file-lock.ts';
import { runTool } from './run-tool.ts';

/** How often a builder looks whether another one has finished, in milliseconds. */
const lockPollIntervalMs = 50;

/** A process that runs may still load chunks of an earlier build: they are kept for so long, in milliseconds. */
const oldChunkLifetimeMs = 24 * 60 * 60 * 1000;

/** CommonJS packages in an ES module bundle need a `require` for Node's own modules. */
const banner =
  "import { createRequire as makeRequire } from 'node:module';\nconst require = makeRequire(import.meta.url);";

/** What to build. */
export interface BuildLocalOptions {
  /** Busdriver's own folder, absolute. */
  readonly root: string;
  /** Where the bundles go, absolute. */
  readonly outputDir: string;
  /** Modules to begin with, from the root. Default: {@link localEntries}. */
  readonly entries?: readonly string[];
  /** Whether names within the bundles are shortened: they are smaller, and stacks show less. Default: false. */
  readonly shortensNames?: boolean;
  /** Packages that are never loaded, and left out. Default: none. */
  readonly absent?: readonly string[];
  /** Whether each entry becomes one file with all that it imports, late or not. Default: they share chunks. */
  readonly isOneFile?: boolean;
  /** Called when another builder makes this one wait. */
  readonly report?: (line: string) => void;
}

/** What the last build read, so that it need not be repeated. */
interface Stamp {
  readonly options: string;
  /** Time of change of each file, milliseconds since the epoch, by path from the root. */
  readonly inputs: { readonly [file: string]: number };
}

/**
 * Bundles `npm start` (and the demo) with all functions. A build whose inputs have not changed is not repeated; concurrent builders
 * wait for one of them.
 *
 * @returns whether there was anything to build
 * @throws Error when the sources do not compile, with what is wrong where
 */
export async function buildLocal(wanted: BuildLocalOptions): Promise<boolean> {
  const { root, outputDir, report } = wanted;
  const options = getOptions(wanted);
  const stampFile = path.join(outputDir, 'build.json');
  await mkdir(outputDir, { recursive: true });
  for (let waits = 0; ; waits++) {
    if (await isUpToDate(stampFile, { root, options })) return false;
    await using lock = await takeFileLock(path.join(outputDir, 'build.lock'));
    if (lock === undefined) {
      if (waits * lockPollIntervalMs === 1000)
        report?.('Waiting for another build, or for the trace of a killed one');
      await sleep(lockPollIntervalMs);
      continue;
    }
    const startedAtMs = wallClock.now();
    const { metafile } = await build({ ...options, metafile: true });
    if (wanted.isOneFile !== true) await removeOldChunks(path.join(outputDir, 'chunks'), metafile);
    const inputs = await readTimes(root, listInputs(metafile));
    const stamp: Stamp = { options: JSON.stringify(options), inputs };
    // What changed meanwhile may or may not have been read: the next build finds out.
    const isStable = Object.values(inputs).every((time) => time < startedAtMs);
    if (isStable) await writeFile(stampFile, JSON.stringify(stamp));
    return true;
  }
}

/** A replica in Kubernetes, and what packages with providers import. */
export const replicaEntries: readonly string[] = ['infra/kubernetes/main.ts', 'shared/provider-kit/kit.ts'];

/** `npm start`, the demo, and what packages with providers import. */
export const localEntries: readonly string[] = [
  'infra/local/main.ts',
  'infra/tools/demo/demo.ts',
  'shared/provider-kit/kit.ts',
];

/** Packages of the AWS SDK in whose place `npm start` has {@link standIn}: it calls its own engines, and loads none of their clients. */
export const replacedPackages: readonly string[] = ['dynamodb', 'sqs', 'eventbridge'].map(
  (service) => `@aws-sdk/client-${service}`,
);

/** What stands in for them. */
export const standIn = 'infra/local/engines/sdk-stand-in.ts';

/** What bundles take for `node:http`. */
const nodeHttp = path.join(import.meta.dirname, 'node-http.cts');

/**
 * Has all functions in one chunk, which is read when the first of them is. As chunks of their own they had 500 others in common, in ever
 * other combinations, and to find these 18,000 times took half of the time of a start.
 */
const joinFunctions: Plugin = {
  name: 'join-functions',
  setup({ onLoad, initialOptions: { absWorkingDir = '' } }) {
    onLoad({ filter: /infra.server.functions.function-modules\.ts$/ }, async () => {
      const files = await readdir(path.join(absWorkingDir, 'functions'), { recursive: true });
      const names = files
        .filter((file) => file.endsWith('.ts'))
        .map((file) => file.slice(0, -'.ts'.length).replaceAll(path.sep, '/'))
        .sort();
      const imports = names.map((name, index) => `import * as m${index} from '#functions/${name}.ts';`);
      const rows = names.map((name, index) => `'${name}': m${index},`);
      const lookUp = `export async function importFunction(module) {
        if (Object.hasOwn(modules, module)) return modules[module];
        throw new Error(\`there is no functions/\${module}.ts\`);
      }`;
      return { contents: [...imports, 'const modules = {', ...rows, '};', lookUp].join('\n') };
    });
  },
};

function getOptions({
  root,
  outputDir,
  entries = localEntries,
  shortensNames = false,
  absent = [],
  isOneFile = false,
}: BuildLocalOptions): BuildOptions {
  return {
    absWorkingDir: root,
    entryPoints: entries.map((file) => path.join(root, file)).filter((file) => existsSync(file)),
    entryNames: '[name]',
    outdir: outputDir,
    bundle: true,
    splitting: !isOneFile,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    alias: {
      'node:http': nodeHttp,
      ...(entries.includes('infra/local/main.ts') &&
        Object.fromEntries(replacedPackages.map((name) => [name, path.join(root, standIn)]))),
    },
    // The AWS SDK loads it in browsers alone.
    external: ['bowser', ...absent],
    minifySyntax: true,
    minifyWhitespace: true,
    // Names of classes and functions stay: those of errors are told.
    ...(shortensNames && { minifyIdentifiers: true, keepNames: true }),
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    banner: { js: banner },
    plugins: [joinFunctions],
    chunkNames: 'chunks/[name]-[hash]',
    logLevel: 'silent',
  };
}

async function isUpToDate(
  stampFile: string,
  { root, options }: { root: string; options: BuildOptions },
): Promise<boolean> {
  try {
    const stamp: Stamp = JSON.parse(await readFile(stampFile, 'utf8'));
    if (stamp.options !== JSON.stringify(options)) return false;
    const current = await readTimes(root, Object.keys(stamp.inputs));
    return Object.entries(stamp.inputs).every(([file, time]) => current[file] === time);
  } catch {
    // No build yet, or one of its inputs is gone.
    return false;
  }
}

async function readTimes(root: string, files: readonly string[]): Promise<{ [file: string]: number }> {
  const times = files.map(async (file) => [file, (await stat(path.join(root, file))).mtimeMs] as const);
  return Object.fromEntries(await Promise.all(times));
}

/** The folders are inputs because a new function changes nothing else that was read. */
function listInputs({ inputs }: Metafile): readonly string[] {
  const files = Object.keys(inputs).filter((file) => !file.includes('node_modules/'));
  const folders = files.map((file) => path.dirname(file)).filter((folder) => folder.startsWith('functions'));
  return ['package.json', 'package-lock.json', 'infra/tools/build/build.ts', ...new Set(folders), ...files];
}

async function removeOldChunks(dir: string, { outputs }: Metafile): Promise<void> {
  const current = new Set(Object.keys(outputs).map((file) => path.basename(file)));
  for (const name of await readdir(dir)) {
    const file = path.join(dir, name);
    const isOld = wallClock.now() - (await stat(file)).mtimeMs > oldChunkLifetimeMs;
    if (isOld && !current.has(name)) await rm(file, { force: true });
  }
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, '../../..');
  const outputDir = path.join(root, 'dist', 'local');
  await runTool(() => buildLocal({ root, outputDir, report: console.error }));
}
