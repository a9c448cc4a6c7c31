import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { type BuildOptions, buildSync, type Metafile, type OutputFile } from 'esbuild';
import { agentRoutes, connectionRows } from '../functions/agent-routes.ts';
import { authorizers } from '../functions/authorizers.ts';
import { operatorRoutes } from '../functions/operator-routes.ts';
import { queues } from '../functions/queues.ts';
import { routes } from '../functions/routes.ts';
import { schedules } from '../functions/schedules.ts';

/** What Lambda gets of a function: its module with all that it imports at once, the chunks that it imports later, and source maps. */
export interface Bundle {
  /** The module that Lambda imports, first among `files`. */
  readonly entry: string;
  readonly files: readonly BundleFile[];
}

/** A file of a bundle. */
export interface BundleFile {
  /** Without folders: all lie beside each other. */
  readonly name: string;
  readonly contents: Uint8Array;
  /** When it is loaded: with the function, on the first use of what is in it, or never, as a source map is. */
  readonly loaded: 'at-start' | 'later' | 'never';
  /** Bytes that it holds of each source file, by path from the project's folder. */
  readonly sources: { readonly [file: string]: number };
}

/** The project's folder. */
const root = join(import.meta.dirname, '..');

/** CommonJS packages in an ES module need a `require` for Node's own modules. It is left out where nobody does. */
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
  alias: { 'node:http': './infra/node-http.cts' },
  // So Node builds its own undici: without the experimental parser, of which two copies would come along.
  define: { esbuildDetection: 'true' },
  external: absent,
  logLevel: 'silent',
};

let chunks: Chunks | undefined;
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

/** What the bundle of a function holds. It is some hundredths less when its chunks are joined, for which nothing is done here. */
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
  /** Path of the chunk with its module. */
  readonly entry: string;
  readonly atStart: ReadonlySet<string>;
  readonly later: ReadonlySet<string>;
}

/** Makes those of these bundles that are not made yet. */
function makeBundles(modules: readonly string[]): void {
  const missing = modules.filter((module) => !bundles.has(module));
  if (missing.length === 0) return;
  const made = getChunks();
  const loaded = missing.map((module) => findLoaded(made, module));
  const joined = joinStarts(made, loaded);
  for (const [index, module] of missing.entries())
    bundles.set(module, makeBundle(made, joined, loaded[index] as LoadedChunks));
}

function getChunks(): Chunks {
  chunks ??= makeChunks();
  return chunks;
}

function makeChunks(): Chunks {
  const entryPoints = listModules().map((module) => `functions/${module}.ts`);
  const define = { ...options.define, packedApiDocument: JSON.stringify(packApiDocument()) };
  const { outputFiles, metafile } = buildSync({ ...options, define, entryPoints });
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
  return { entry, atStart, later: all.difference(atStart) };
}

/**
 * Joins the chunks that each function loads at its start to one file, for each file costs a third of a millisecond. What is loaded later
 * finds in it what it needs of them: it is exported by names that {@link toAlias} makes.
 *
 * @returns the files by name, with their source maps
 */
function joinStarts(chunks: Chunks, functions: readonly LoadedChunks[]): Chunks['contents'] {
  const folder = mkdtempSync(join(tmpdir(), 'busdriver-bundles-'));
  try {
    const needed = new Set(functions.flatMap(({ atStart }) => [...atStart]));
    for (const name of [...needed].flatMap((path) => [basename(path), `${basename(path)}.map`]))
      writeFileSync(join(folder, name), getContents(chunks.contents, name));
    const late = listImports(chunks.outputs, 'dynamic-import').map((path) => `./${basename(path)}`);
    const entryPoints = functions.map((loaded) => {
      const file = join(folder, `${basename(loaded.entry)}.start.mjs`);
      writeFileSync(file, exportStart(chunks, loaded));
      return { in: file, out: basename(loaded.entry, '.mjs') };
    });
    const { outputFiles } = buildSync({
      ...options,
      absWorkingDir: folder,
      outdir: folder,
      // The chunks are read from there, and nothing is written.
      allowOverwrite: true,
      entryPoints,
      splitting: false,
      alias: {},
      banner: {},
      external: [...absent, ...late],
    });
    return toContents(outputFiles);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A module with what a function exports, and what is exported by those of its chunks that later ones import. */
function exportStart({ outputs }: Chunks, { entry, atStart, later }: LoadedChunks): string {
  const needed = [...atStart].filter((path) => isImportedBy(outputs, path, later));
  const lines = needed.map((path) => {
    const names = (outputs[path]?.exports ?? []).map((name) => `${name} as ${toAlias(path, name)}`);
    return `export {${names.join()}} from './${basename(path)}';`;
  });
  return [`export * from './${basename(entry)}';`, ...lines].join('\n');
}

/** What stands in the place of a chunk that was joined to the module of a function: its exports are those of that one. */
function exportJoined({ outputs }: Chunks, path: string, entry: string): string {
  const names = (outputs[path]?.exports ?? []).map((name) => `${toAlias(path, name)} as ${name}`);
  return `export{${names.join()}}from"./${basename(entry)}";`;
}

/** Name of an export of a chunk, apart from those of others: `a` of `chunk-WFL7HGHX.mjs` is `$WFL7HGHXa`. */
function toAlias(path: string, name: string): string {
  return `$${basename(path, '.mjs').slice(-8)}${name}`;
}

function makeBundle(chunks: Chunks, joined: Chunks['contents'], loaded: LoadedChunks): Bundle {
  const { outputs, contents } = chunks;
  const { entry, atStart, later } = loaded;
  const name = basename(entry);
  const start = { name, contents: getContents(joined, name), sources: sumSources(outputs, atStart) };
  const shared = [...atStart].filter((path) => isImportedBy(outputs, path, later));
  return {
    entry: name,
    files: [
      { ...start, loaded: 'at-start' },
      toSourceMap(joined, name),
      ...shared.map((path): BundleFile => {
        const text = exportJoined(chunks, path, entry);
        return { name: basename(path), contents: Buffer.from(text), loaded: 'later', sources: {} };
      }),
      ...[...later].flatMap((path): BundleFile[] => {
        const chunk = basename(path);
        const sources = sumSources(outputs, new Set([path]));
        return [
          { name: chunk, contents: withoutBanner(getContents(contents, chunk)), loaded: 'later', sources },
          toSourceMap(contents, chunk),
        ];
      }),
    ],
  };
}

/** A chunk without the banner, unless it uses it. Its line stays: source maps count it. */
function withoutBanner(contents: Uint8Array): Uint8Array {
  const text = Buffer.from(contents).toString();
  const rest = text.startsWith(banner) ? text.slice(banner.length) : text;
  return rest.includes('require') ? contents : Buffer.from(rest);
}

function toSourceMap(contents: Chunks['contents'], chunk: string): BundleFile {
  const name = `${chunk}.map`;
  return { name, contents: getContents(contents, name), loaded: 'never', sources: {} };
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
