import { basename, join } from 'node:path';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';
import { authorizers } from '../functions/authorizers.ts';
import { queues } from '../functions/queues.ts';
import { routes } from '../functions/routes.ts';
import { schedules } from '../functions/schedules.ts';

/** What Lambda gets of a function: its module, the chunks that this one imports at once or later, and their source maps. */
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

/** CommonJS packages in an ES module need a `require` for Node's own modules. */
const banner =
  "import { createRequire as makeRequire } from 'node:module';const require = makeRequire(import.meta.url);";

/**
 * The AWS SDK is part of each bundle: the runtime's own is another version, in CommonJS, and slower to start than what tree
 * shaking leaves of ours.
 */
const options: BuildOptions & { readonly write: false; readonly metafile: true } = {
  absWorkingDir: root,
  outdir: 'bundles',
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
  external: [
    // Undici's parser for processors without SIMD, of which Lambda has none.
    '../llhttp/llhttp-wasm.js',
    // By this the AWS SDK tells browsers apart.
    'bowser',
  ],
  logLevel: 'silent',
};

let bundles: ReadonlyMap<string, Bundle> | undefined;

/**
 * Every function's bundle, by module. What is imported late is a chunk of its own, and is only read when it is needed. All are
 * made at once, for that takes a fraction of the time that one after the other takes; the process remembers them.
 *
 * @throws Error when the sources do not compile, with what is wrong where
 */
export function getBundles(): ReadonlyMap<string, Bundle> {
  bundles ??= makeBundles();
  return bundles;
}

function makeBundles(): ReadonlyMap<string, Bundle> {
  const modules = listModules();
  const entryPoints = modules.map((module) => `functions/${module}.ts`);
  const { outputFiles, metafile } = buildSync({ ...options, entryPoints });
  const contents = new Map(outputFiles.map((file) => [basename(file.path), file.contents]));
  return new Map(modules.map((module) => [module, makeBundle(module, metafile.outputs, contents)]));
}

function makeBundle(
  module: string,
  outputs: Metafile['outputs'],
  contents: ReadonlyMap<string, Uint8Array>,
): Bundle {
  const entryPoint = `functions/${module}.ts`;
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entryPoint) ?? '';
  const atStart = followImports(outputs, entry, ['import-statement']);
  const all = followImports(outputs, entry, ['import-statement', 'dynamic-import']);
  const files = [...all].flatMap((path): BundleFile[] => {
    const name = basename(path);
    const inputs = Object.entries(outputs[path]?.inputs ?? {});
    const sources = Object.fromEntries(inputs.map(([file, { bytesInOutput }]) => [file, bytesInOutput]));
    return [
      {
        name,
        contents: getContents(contents, name),
        loaded: atStart.has(path) ? 'at-start' : 'later',
        sources,
      },
      {
        name: `${name}.map`,
        contents: getContents(contents, `${name}.map`),
        loaded: 'never',
        sources: {},
      },
    ];
  });
  return { entry: basename(entry), files };
}

/** The output and all that it imports in these ways, itself or by way of others. */
function followImports(
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

function getContents(contents: ReadonlyMap<string, Uint8Array>, name: string): Uint8Array {
  const found = contents.get(name);
  if (found === undefined) throw new Error(`esbuild made no file ${name}`);
  return found;
}

function listModules(): readonly string[] {
  const workers = queues.flatMap(({ module, deadLetterModule }) => [module, deadLetterModule]);
  const others = [...routes, ...schedules, ...authorizers].map(({ module }) => module);
  return [...new Set([...workers, ...others])];
}
