import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { queues } from '../../functions/queues.ts';
import { routes } from '../../functions/routes.ts';
import { schedules } from '../../functions/schedules.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { summarize } from './statistics.ts';

const run = promisify(execFile);

/** What a function weighs as Lambda gets it: one minified ESM file of its own. */
export interface BundleReport {
  readonly module: string;
  /** `read` for functions that talk to stores only, `worker` for those that talk to clusters or run operations. */
  readonly kind: 'read' | 'worker';
  readonly kilobytes: number;
  /** Median milliseconds to import it in a fresh process, Node's own start not counted. */
  readonly importMs: number;
}

/** Imports of each bundle. */
const imports = 5;

/** Bundles every function alone and imports it. */
export async function measureBundles(report: (line: string) => void): Promise<BundleReport[]> {
  await using dir = await makeTempDir();
  const reports: BundleReport[] = [];
  for (const { module, kind } of listFunctions()) {
    const outfile = join(dir.path, `${module.replaceAll('/', '-')}.mjs`);
    await bundle(module, outfile);
    const samples: number[] = [];
    for (let round = 0; round < imports; round += 1) samples.push(await measureImport(outfile));
    const kilobytes = Math.round((await stat(outfile)).size / 1024);
    reports.push({ module, kind, kilobytes, importMs: summarize(samples).median });
    report(`bundle ${module}: ${kilobytes} KB`);
  }
  return reports;
}

function listFunctions(): { module: string; kind: BundleReport['kind'] }[] {
  const cluster = routes.filter(({ reaches }) => reaches !== 'store').map(({ module }) => module);
  const store = routes.filter(({ reaches }) => reaches === 'store').map(({ module }) => module);
  const workers = queues.map(({ module }) => module);
  const light = [
    ...queues.map(({ deadLetterModule }) => deadLetterModule),
    ...schedules.map(({ module }) => module),
  ];
  return [
    ...[...store, ...light].map((module) => ({ module, kind: 'read' as const })),
    ...[...cluster, ...workers].map((module) => ({ module, kind: 'worker' as const })),
  ];
}

async function bundle(module: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, '..', '..', 'functions', `${module}.ts`)],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    logLevel: 'error',
  });
}

async function measureImport(file: string): Promise<number> {
  const script = `const start=performance.now();await import(${JSON.stringify(file)});console.log(performance.now()-start)`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout);
}
