import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { type BuildOptions, buildSync, type Metafile, type OutputFile } from 'esbuild';
import { agentRoutes, connectionRows } from '#functions/agent-routes.ts';
import { authorizers } from '#functions/authorizers.ts';
import { operatorRoutes } from '#functions/operator-routes.ts';
import { queues } from '#functions/queues.ts';
import { routes } from '#functions/routes.ts';
import { schedules } from '#functions/schedules.ts';
import { bundleProviders } from './added-providers.ts';

/** What Lambda gets of a function, and of those with which it shares its code. */
export interface Bundle {
  /** The same for functions that share their code, and another once that changes. */
  readonly name: string;
  /** The module of `files` that Lambda imports. */
  readonly entry: string;
  /** What is imported at once, the modules of the functions, and the chunks that are imported later. */
  readonly files: readonly BundleFile[];
  /** By which places in `files` are found in the sources. Lambda does not get them. */
  readonly sourceMaps: readonly Pick<BundleFile, 'name' | 'contents'>[];
}

/** A file of a bundle. */
export interface BundleFile {
  /** Without folders: all lie beside each other. */
  readonly name: string;
  readonly contents: Uint8Array;
  /** When it is loaded: with the function, or on the first use of what is in it. */
  readonly loaded: 'at-start' | 'later';
  /** Bytes that it holds of each source file, by path from the project's folder. */
  readonly sources: { readonly [file: string]: number };
}

/** The project's folder. */
const root = join(import.meta.dirname, '../../..');

/** CommonJS packages in an ES module need a `require` for Node's own modules. It is left out where none does. */
const banner =
  "import { createRequire as makeRequire } from 'node:module';const require = /* @__PURE__ */ makeRequire(import.meta.url);";

/**
 * What Lambda never loads: undici's parser for processors without SIMD; by what the AWS SDK tells browsers apart; and how it finds
 * credentials in profiles, programs, files and services of a machine, for Lambda gives them by its environment.
 */
const absent = [
  '../llhttp/llhttp-wasm.js',
  'bowser',
  ...['http', 'ini', 'process', 'sso', 'web-identity'].map(
    (source) => `@aws-sdk/credential-provider-${source}`,
  ),
  '@smithy/credential-provider-imds',
];

/** Where the bundles would be, if they were written: source maps name sources from there. */
const outdir = 'bundles';

/**
 * The AWS SDK is part of each bundle: the runtime's own is another version, in CommonJS, and slower to start than what tree
 * shaking leaves of ours.
 */
const options: BuildOptions & { readonly write: false; readonly metafile: true } = {
  absWorkingDir: root,
  outdir,
  write: false,
  metafile: true,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  outExtension: { '.js': '.mjs' },
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  banner: { js: banner },
  alias: { 'node:http': './infra/tools/build/node-http.cts' },
  // So Node builds its own undici: without the experimental parser, of which two copies would come along.
  define: { esbuildDetection: 'true' },
  external: absent,
  logLevel: 'silent',
};

/** By so much of its own start, at most, a function's grows by what others need that share its code. */
const growthMax = 0.05;

let chunks: Chunks | undefined;
let groups: readonly Group[] | undefined;
const bundles = new Map<string, Bundle>();

/**
 * Every function's bundle, by module. What is imported late is a chunk of its own, and is only read when it is needed. All are
 * made at once, for that takes less time than one after the other takes; the process remembers them.
 *
 * @throws Error when the sources do not compile, with what is wrong where
 */
export function getBundles(): ReadonlyMap<string, Bundle> {
  makeBundles(listModules());
  return bundles;
}

/**
 * The bundle of one function, which takes a small part of the time that all of them take.
 *
 * @throws Error when no function has the module, or the sources do not compile
 */
export function getBundle(module: string): Bundle {
  if (!listModules().includes(module)) throw new Error(`no function has the module ${module}`);
  makeBundles([module]);
  return bundles.get(module) as Bundle;
}

/** Bytes of each source file that a function holds, by path from the project's folder: loaded with it, and later. */
export interface BundleSources {
  readonly atStart: BundleFile['sources'];
  readonly later: BundleFile['sources'];
}

/** What a function needs of its bundle. For this nothing is joined, which makes it some hundredths longer. */
export function getBundleSources(module: string): BundleSources {
  const made = getChunks();
  const { atStart, later } = findLoaded(made, module);
  return { atStart: sumSources(made.outputs, atStart), later: sumSources(made.outputs, later) };
}

/** What esbuild made of all functions: chunks, each shared by all that need what is in it. */
interface Chunks {
  readonly outputs: Metafile['outputs'];
  /** By name. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** What a function loads of the chunks. */
interface LoadedChunks {
  readonly module: string;
  /** Path of the chunk with its module. */
  readonly entry: string;
  readonly atStart: ReadonlySet<string>;
  readonly later: ReadonlySet<string>;
}

/** Functions that share their code, and what they load of the chunks. */
interface Group extends Pick<LoadedChunks, 'atStart' | 'later'> {
  readonly functions: readonly LoadedChunks[];
}

/** Makes those of these bundles that are not made yet. */
function makeBundles(modules: readonly string[]): void {
  const missing = new Set(modules.filter((module) => !bundles.has(module)));
  if (missing.size === 0) return;
  const made = getChunks();
  groups ??= groupFunctions(made);
  const wanted = groups.filter(({ functions }) => functions.some(({ module }) => missing.has(module)));
  const joined = joinStarts(made, wanted);
  for (const group of wanted) {
    const bundle = makeBundle(made, joined, group);
    for (const { module, entry } of group.functions)
      bundles.set(module, { ...bundle, entry: basename(entry) });
  }
}

/** Those that begin with nearly the same code share it: the largest first, so that the last of a group is the one that grows most. */
function groupFunctions(chunks: Chunks): readonly Group[] {
  const sum = (paths: ReadonlySet<string>) =>
    [...paths].reduce((bytes, path) => bytes + (chunks.outputs[path]?.bytes ?? 0), 0);
  const found: Group[] = [];
  const loaded = listModules().map((module) => findLoaded(chunks, module));
  for (const each of loaded.sort((one, other) => sum(other.atStart) - sum(one.atStart))) {
    const mostBytes = (1 + growthMax) * sum(each.atStart);
    const near = found.find(({ atStart }) => sum(atStart.union(each.atStart)) <= mostBytes);
    const { functions, ...others }: Group = near ?? { functions: [], atStart: new Set(), later: new Set() };
    const atStart = each.atStart.union(others.atStart);
    const later = each.later.union(others.later).difference(atStart);
    const place = near === undefined ? found.length : found.indexOf(near);
    found.splice(place, 1, { functions: [...functions, each], atStart, later });
  }
  return found;
}

function getChunks(): Chunks {
  chunks ??= makeChunks();
  return chunks;
}

function makeChunks(): Chunks {
  const entryPoints = listModules().map((module) => `functions/${module}.ts`);
  const define = { ...options.define, packedApiDocument: JSON.stringify(packApiDocument()) };
  const { outputFiles, metafile } = bundleProviders((aliases) =>
    buildSync({ ...options, define, entryPoints, alias: { ...options.alias, ...aliases } }),
  );
  return { outputs: metafile.outputs, contents: toContents(outputFiles) };
}

/** What `get-api-docs` answers, a tenth as long: Brotli's bytes in base64. */
function packApiDocument(): string {
  const text = readFileSync(join(root, 'docs', 'openapi.json'), 'utf8');
  return brotliCompressSync(JSON.stringify(JSON.parse(text))).toString('base64');
}

function findLoaded({ outputs }: Chunks, module: string): LoadedChunks {
  const entryPoint = `functions/${module}.ts`;
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entryPoint) ?? '';
  const atStart = collectImports(outputs, entry, ['import-statement']);
  const all = collectImports(outputs, entry, ['import-statement', 'dynamic-import']);
  return { module, entry, atStart, later: all.difference(atStart) };
}

/** What came of joining. */
interface JoinedStarts extends Pick<Chunks, 'contents'> {
  /** Names of files by the group whose start they are. */
  readonly names: ReadonlyMap<Group, string>;
}

/**
 * Joins the chunks that functions of a group load at their start to one file, for each file costs a third of a millisecond. Their modules,
 * and what is loaded later, find in it what they need: it is exported by names that {@link toAlias} makes.
 *
 * @returns the files by name, with their source maps
 */
function joinStarts(chunks: Chunks, groups: readonly Group[]): JoinedStarts {
  const folder = mkdtempSync(join(tmpdir(), 'busdriver-bundles-'));
  try {
    const needed = new Set(groups.flatMap(({ atStart }) => [...atStart]));
    for (const name of [...needed].flatMap((path) => [basename(path), `${basename(path)}.map`]))
      writeFileSync(join(folder, name), getContents(chunks.contents, name));
    const late = listImports(chunks.outputs, 'dynamic-import').map((path) => `./${basename(path)}`);
    const entryPoints = groups.map((group) => {
      const name = `${basename(group.functions[0]?.entry ?? '')}.start.mjs`;
      writeFileSync(join(folder, name), exportStart(chunks, group));
      return name;
    });
    const { outputFiles, metafile } = buildSync({
      ...options,
      absWorkingDir: folder,
      outdir: folder,
      entryPoints,
      // So the map of one release cannot be mistaken for that of another.
      entryNames: 'start-[hash]',
      splitting: false,
      alias: {},
      banner: {},
      external: [...absent, ...late],
    });
    const outputs = Object.entries(metafile.outputs);
    const names = entryPoints.map((name, index) => {
      const [path = ''] = outputs.find(([, { entryPoint }]) => entryPoint === name) ?? [];
      return [groups[index] as Group, basename(path)] as const;
    });
    return { names: new Map(names), contents: toContents(outputFiles) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A module with what functions export, and what is exported by those of their chunks that later ones import. */
function exportStart({ outputs }: Chunks, group: Group): string {
  const lines = listExported(outputs, group).map((path) => {
    const names = (outputs[path]?.exports ?? []).map((name) => `${name} as ${toAlias(path, name)}`);
    return `export {${names.join()}} from './${basename(path)}';`;
  });
  return lines.join('\n');
}

/** Chunks that the start of a group passes on: the modules of functions, and what later ones import. */
function listExported(outputs: Metafile['outputs'], { functions, atStart, later }: Group): readonly string[] {
  const shared = [...atStart].filter((path) => isImportedBy(outputs, path, later));
  return [...new Set([...functions.map(({ entry }) => entry), ...shared])];
}

/** What replaces a chunk that was joined to the start: its exports are those of that one. */
function exportJoined(outputs: Metafile['outputs'], path: string, start: string): string {
  const names = (outputs[path]?.exports ?? []).map((name) => `${toAlias(path, name)} as ${name}`);
  return `export{${names.join()}}from"./${start}";`;
}

/** Name of an export of a chunk, apart from those of others: `a` of `chunk-WFL7HGHX.mjs` is `$chunk_WFL7HGHX_a`. */
function toAlias(path: string, name: string): string {
  return `$${basename(path, '.mjs').replaceAll(/\W/g, '_')}_${name}`;
}

/** The bundle of a group, but for what each function has for itself. */
function makeBundle(
  { outputs, contents }: Chunks,
  joined: JoinedStarts,
  group: Group,
): Omit<Bundle, 'entry'> {
  const start = joined.names.get(group) ?? '';
  const entries = new Set(group.functions.map(({ entry }) => entry));
  const files: readonly BundleFile[] = [
    {
      ...{ name: start, contents: getContents(joined.contents, start) },
      ...{ loaded: 'at-start', sources: sumSources(outputs, group.atStart) },
    },
    ...listExported(outputs, group).map((path): BundleFile => {
      const text = Buffer.from(exportJoined(outputs, path, start));
      const loaded = entries.has(path) ? 'at-start' : 'later';
      return { name: basename(path), contents: text, loaded, sources: {} };
    }),
    ...[...group.later].map((path): BundleFile => {
      const name = basename(path);
      const sources = sumSources(outputs, new Set([path]));
      return { name, contents: withoutBanner(getContents(contents, name)), loaded: 'later', sources };
    }),
  ];
  const sourceMaps = [
    toSourceMap(joined.contents, start),
    ...[...group.later].map((path) => toSourceMap(contents, basename(path))),
  ];
  return { name: start, files, sourceMaps };
}

/** A chunk without the banner, unless it uses it. Its line stays: source maps count it. */
function withoutBanner(contents: Uint8Array): Uint8Array {
  const text = Buffer.from(contents).toString();
  const rest = text.startsWith(banner) ? text.slice(banner.length) : text;
  return rest.includes('require') ? contents : Buffer.from(rest);
}

function toSourceMap(contents: Chunks['contents'], chunk: string): Bundle['sourceMaps'][number] {
  const name = `${chunk}.map`;
  return { name, contents: getContents(contents, name) };
}

/** Bytes of each source file in some chunks. */
function sumSources(outputs: Metafile['outputs'], paths: ReadonlySet<string>): BundleFile['sources'] {
  const sources: { [file: string]: number } = {};
  for (const path of paths) {
    for (const [file, { bytesInOutput }] of Object.entries(outputs[path]?.inputs ?? {}))
      sources[file] = (sources[file] ?? 0) + bytesInOutput;
  }
  return sources;
}

function isImportedBy(outputs: Metafile['outputs'], path: string, others: ReadonlySet<string>): boolean {
  return [...others].some((other) => outputs[other]?.imports.some((imported) => imported.path === path));
}

/** All that is imported so by anything. */
function listImports(outputs: Metafile['outputs'], wanted: string): readonly string[] {
  const paths = Object.values(outputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => !external && kind === wanted).map(({ path }) => path),
  );
  return [...new Set(paths)];
}

function toContents(files: readonly OutputFile[]): Chunks['contents'] {
  return new Map(files.map((file) => [basename(file.path), file.contents]));
}

/** The output and all that it imports in these ways, itself or by way of others. */
function collectImports(
  outputs: Metafile['outputs'],
  entry: string,
  kinds: readonly string[],
): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const path of found) {
    for (const { path: imported, kind, external } of outputs[path]?.imports ?? []) {
      if (!external && kinds.includes(kind)) found.add(imported);
    }
  }
  return found;
}

function getContents(contents: Chunks['contents'], name: string): Uint8Array {
  const found = contents.get(name);
  if (found === undefined) throw new Error(`esbuild made no file ${name}`);
  return found;
}

/** Modules of all functions, below `functions/`, without extension. */
export function listModules(): readonly string[] {
  const workers = queues.flatMap(({ module, deadLetterModule }) => [module, deadLetterModule]);
  const rows = [
    ...routes,
    ...operatorRoutes,
    ...agentRoutes,
    ...connectionRows,
    ...schedules,
    ...authorizers,
  ];
  return [...new Set([...workers, ...rows.map(({ module }) => module)])];
}
