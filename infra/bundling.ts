import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { type BuildOptions, buildSync } from 'esbuild';
import { authorizers } from '../functions/authorizers.ts';
import { queues } from '../functions/queues.ts';
import { routes } from '../functions/routes.ts';
import { schedules } from '../functions/schedules.ts';

/** A file of a bundle. */
export interface BundleFile {
  /** Without folders. */
  readonly name: string;
  readonly contents: Uint8Array;
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
const options: BuildOptions & { readonly write: false } = {
  absWorkingDir: root,
  outbase: 'functions',
  outdir: 'bundles',
  write: false,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  outExtension: { '.js': '.mjs' },
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  banner: { js: banner },
  logLevel: 'silent',
};

let bundles: ReadonlyMap<string, readonly BundleFile[]> | undefined;

/**
 * Every function's bundle, by module: one ES module with everything in it, and its source map. All are made at once, for that
 * takes a fraction of the time that one after the other takes; the process remembers them.
 *
 * @throws Error when the sources do not compile, with what is wrong where
 */
export function getBundles(): ReadonlyMap<string, readonly BundleFile[]> {
  bundles ??= makeBundles();
  return bundles;
}

/** The code of a function, bundled by esbuild on this machine when its stack is. */
export function toCode(module: string): Code {
  return Code.fromAsset(root, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Docker is never asked. CDK takes assets whose commands are the same for one.
      image: DockerImage.fromRegistry('none'),
      command: [module],
      local: {
        tryBundle(outputDir) {
          for (const { name, contents } of getBundles().get(module) ?? []) {
            writeFileSync(join(outputDir, name), contents);
          }
          return true;
        },
      },
    },
  });
}

/** What Lambda calls: `handler` in the bundle of a module. */
export function toHandler(module: string): string {
  return `${basename(module)}.handler`;
}

function makeBundles(): ReadonlyMap<string, readonly BundleFile[]> {
  const modules = listModules();
  const entryPoints = modules.map((module) => `functions/${module}.ts`);
  const { outputFiles } = buildSync({ ...options, entryPoints });
  const byModule = Map.groupBy(outputFiles, ({ path }) => path.replace(/\.mjs(\.map)?$/, ''));
  return new Map(
    modules.map((module) => {
      const files = byModule.get(join(root, 'bundles', module)) ?? [];
      return [module, files.map(({ path, contents }) => ({ name: basename(path), contents }))];
    }),
  );
}

function listModules(): readonly string[] {
  const workers = queues.flatMap(({ module, deadLetterModule }) => [module, deadLetterModule]);
  const others = [...routes, ...schedules, ...authorizers].map(({ module }) => module);
  return [...new Set([...workers, ...others])];
}
