import {
  type FunctionKind,
  getBundle,
  getSizes,
  listFunctions,
  measureImport,
  writeBundle,
} from '../support/function-bundles.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { summarize } from './statistics.ts';

/** What a function weighs as Lambda gets it. */
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

/** Imports of each bundle. */
const imports = 7;

/** Imports the bundle of every function. */
export async function measureBundles(report: (line: string) => void): Promise<BundleReport[]> {
  const reports: BundleReport[] = [];
  for (const { module, kind } of listFunctions()) {
    await using dir = await makeTempDir();
    const file = await writeBundle(module, dir.path);
    const clock: number[] = [];
    const processor: number[] = [];
    for (let round = 0; round < imports; round += 1) {
      const { clockMs, processorMs } = await measureImport(file);
      clock.push(clockMs);
      processor.push(processorMs);
    }
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
