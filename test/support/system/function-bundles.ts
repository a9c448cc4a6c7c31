import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { agentRoutes, connectionRows } from '#functions/agent-routes.ts';
import { authorizers } from '#functions/authorizers.ts';
import { operatorRoutes } from '#functions/operator-routes.ts';
import { queues } from '#functions/queues.ts';
import { routes } from '#functions/routes.ts';
import { type Schedule, schedules } from '#functions/schedules.ts';
import { type Bundle, getBundle, getBundleSources } from '#infra/aws/bundling/bundles.ts';

const run = promisify(execFile);

/**
 * What a function needs: nothing (`static`), tables, queues, the bus or a secret (`store`), accounts without their clusters
 * (`accounts`), those and tasks or the cache for agents (`agent`), clusters or artifact sources (`cluster`), all that while somebody waits; or accounts or clusters while nobody does
 * (`worker`).
 */
export type FunctionKind = 'static' | 'store' | 'accounts' | 'agent' | 'cluster' | 'worker';

/** What a function may cost at most. */
export interface BundleCeiling {
  /** KB of the modules that are loaded with it. */
  readonly startKb: number;
  /** KB of all its modules, with those that are loaded on first use. */
  readonly wholeKb: number;
}

/**
 * Ceilings of each kind. What is loaded is what a caller waits for at a cold start; the bench measures how long that takes, since no
 * test may fail because its machine was slow.
 */
export const ceilings: Readonly<Record<FunctionKind, BundleCeiling>> = {
  static: { startKb: 120, wholeKb: 120 },
  store: { startKb: 400, wholeKb: 500 },
  accounts: { startKb: 700, wholeKb: 2_500 },
  agent: { startKb: 800, wholeKb: 2_500 },
  cluster: { startKb: 700, wholeKb: 2_500 },
  worker: { startKb: 700, wholeKb: 2_500 },
};

/** Every function with its kind, in the order of the tables. */
export function listFunctions(): readonly { readonly module: string; readonly kind: FunctionKind }[] {
  return [
    ...routes.map((route) => ({ module: route.module, kind: getKind(route) })),
    ...[...operatorRoutes, ...agentRoutes, ...connectionRows].map(({ module }) => ({
      module,
      kind: 'agent' as const,
    })),
    ...queues.map(({ module }) => ({ module, kind: 'worker' as const })),
    ...queues.map(({ deadLetterModule }) => ({ module: deadLetterModule, kind: 'store' as const })),
    ...schedules.map((schedule) => ({ module: schedule.module, kind: getScheduleKind(schedule) })),
    ...authorizers.map(({ module }) => ({ module, kind: 'store' as const })),
  ];
}

function getKind(row: { readonly reaches?: string; readonly uses?: readonly string[] }): FunctionKind {
  if ((row.reaches ?? 'store') !== 'store') return 'cluster';
  if (row.uses?.some((use) => use === 'readAccountFacts' || use === 'readAccounts')) return 'accounts';
  return (row.uses ?? []).length > 0 ? 'store' : 'static';
}

function getScheduleKind(schedule: Schedule): FunctionKind {
  const kind = getKind(schedule);
  return kind === 'static' || kind === 'store' ? kind : 'worker';
}

/** KB of a bundle's modules: of those that are loaded at the start, and of all. */
export function getSizes({ files }: Bundle): Pick<BundleCeiling, 'startKb' | 'wholeKb'> {
  const sum = (loaded: readonly string[]) =>
    files.filter((file) => loaded.includes(file.loaded)).reduce((sum, file) => sum + file.contents.length, 0);
  return { startKb: sum(['at-start']) / 1024, wholeKb: sum(['at-start', 'later']) / 1024 };
}

/** KB that joining adds at most to the start of a function: names, and what is exported for what comes later. */
export const joiningKbMax = 26;

/** What {@link getSizes} would answer of a module that shares its bundle with none, but for {@link joiningKbMax}. */
export function estimateSizes(module: string): Pick<BundleCeiling, 'startKb' | 'wholeKb'> {
  const { atStart, later } = getBundleSources(module);
  const [startKb, laterKb] = [atStart, later].map((sources) => sumKb(Object.values(sources)));
  return { startKb: startKb ?? 0, wholeKb: (startKb ?? 0) + (laterKb ?? 0) };
}

function sumKb(bytes: readonly number[]): number {
  return bytes.reduce((sum, each) => sum + each, 0) / 1024;
}

/** The sources and packages that weigh most in some modules of a bundle, such as `zod 88 KB`. */
export function describeLargest({ files }: Bundle, loaded: readonly string[], count = 8): string {
  const bytes = new Map<string, number>();
  for (const file of files.filter((file) => loaded.includes(file.loaded))) {
    for (const [path, size] of Object.entries(file.sources)) {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path;
      bytes.set(name, (bytes.get(name) ?? 0) + size);
    }
  }
  return [...bytes]
    .sort(([, one], [, other]) => other - one)
    .slice(0, count)
    .map(([name, size]) => `${name} ${Math.round(size / 1024)} KB`)
    .join(', ');
}

/**
 * Writes what Lambda would get of a function into a new folder within one: files of other functions may have the same names.
 *
 * @returns the file that Lambda imports.
 */
export async function writeBundle(module: string, parent: string): Promise<string> {
  const { entry, files } = getBundle(module);
  const folder = await mkdtemp(join(parent, `${basename(module)}-`));
  await Promise.all(files.map(({ name, contents }) => writeFile(join(folder, name), contents)));
  return join(folder, entry);
}

/** What an import cost, milliseconds. */
export interface ImportCost {
  /** By the clock: what a caller waits for where nothing else runs. */
  readonly clockMs: number;
  /** By the processors, those of the compiler's and the collector's threads included: what other processes do not change much. */
  readonly processorMs: number;
}

/** What a new process pays to import a file; its own start does not count. */
export async function measureImport(file: string): Promise<ImportCost> {
  const script = `const used = process.cpuUsage();
    const start = performance.now();
    await import(${JSON.stringify(file)});
    const clockMs = performance.now() - start;
    const { user, system } = process.cpuUsage(used);
    console.log(JSON.stringify({ clockMs, processorMs: (user + system) / 1000 }));`;
  return JSON.parse(await runProgram(script, {})) as ImportCost;
}

/** What a new process of Node writes that runs this, with no other variables than these. */
export async function runProgram(
  script: string,
  environment: { readonly [name: string]: string | undefined },
): Promise<string> {
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await run(process.execPath, args, { env: environment });
  return stdout;
}
