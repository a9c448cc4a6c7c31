import path from 'node:path';
import { getBundle, getBundles } from '#infra/aws/bundling/bundles.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import {
  estimateSizes,
  type FunctionKind,
  getSizes,
  listFunctions,
  measureImport,
  writeBundle,
} from '#test/support/system/function-bundles.ts';
import type { RowResult } from './rows.ts';
import { summarize } from './statistics.ts';

export interface BundleReport {
  readonly module: string;
  readonly kind: FunctionKind;
  /** KB of the modules that are loaded with it. */
  readonly startKb: number;
  /** KB of all its modules. */
  readonly wholeKb: number;
  /** Median milliseconds to import it in a new process, Node's own start not counted. */
  readonly importMs: number;
  /** The same by the processors. */
  readonly processorMs: number;
}

/** How long the import of a bundle may take at most, milliseconds. */
export const importAimMs = 80;

/** Imports of each bundle. */
const importsEach = 7;

/** The functions of which the time to import tells most: those that people wait for, and those that weigh most. */
const importedModules = ['api/operations/start-operations', 'api/search/search'];
const heaviest = 3;

/** Imports the bundle of every function. */
export async function measureBundles(report: (line: string) => void): Promise<BundleReport[]> {
  const reports: BundleReport[] = [];
  // All at once: one after the other takes longer.
  getBundles();
  for (const { module, kind } of listFunctions()) {
    const { clock, processor } = await importBundle(module);
    const { startKb, wholeKb } = getSizes(getBundle(module));
    const [importMs, processorMs] = [summarize(clock).median, summarize(processor).median];
    reports.push({
      module,
      kind,
      startKb: Math.round(startKb),
      wholeKb: Math.round(wholeKb),
      importMs,
      processorMs,
    });
    report(`bundle ${module}: ${Math.round(startKb)} KB at start`);
  }
  return reports;
}

/** Rows of the imports that tell most, below the name of a server. @param imports of each, default {@link importsEach} */
export async function measureImports(server: string, imports = importsEach): Promise<RowResult[]> {
  const weighed = listFunctions().map(({ module }) => ({ module, ...estimateSizes(module) }));
  const byWeight = weighed.sort((one, other) => other.startKb - one.startKb).map(({ module }) => module);
  const rows: RowResult[] = [];
  for (const module of new Set([...importedModules, ...byWeight.slice(0, heaviest)])) {
    rows.push(await measureImportOf(module, { server, aim: importAimMs, imports }));
  }
  return rows;
}

/** The row of the import of one function, with what its median should not exceed. */
export async function measureImportOf(
  module: string,
  { server, aim, imports }: { readonly server: string; readonly aim: number; readonly imports?: number },
): Promise<RowResult> {
  const { clock, processor } = await importBundle(module, imports);
  const head = { name: `import of ${path.basename(module)}`, unit: 'ms', aim } as const;
  return { ...head, server, summary: summarize(clock), processorMs: summarize(processor).median };
}

/** Milliseconds by the clock and by the processors. */
async function importBundle(
  module: string,
  imports = importsEach,
): Promise<{ clock: number[]; processor: number[] }> {
  await using dir = await makeTempDir();
  const file = await writeBundle(module, dir.path);
  const clock: number[] = [];
  const processor: number[] = [];
  for (let index = 0; index < imports; index += 1) {
    const { clockMs, processorMs } = await measureImport(file);
    clock.push(clockMs);
    processor.push(processorMs);
  }
  return { clock, processor };
}
