import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AssetHashType, DockerImage, Stack, Stage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type Bundle, getBundles } from './bundles.ts';

/** Folder of an assembly with the source maps of its functions, which are too large for their zips. */
export const sourceMapsFolder = 'source-maps';

/**
 * The code of a function, bundled by esbuild on this machine when its stack is. Its source maps are put beside it.
 *
 * @param findBundle finds its bundle. Default: among those of all functions, which are made together
 */
export function toCode(
  scope: Construct,
  module: string,
  findBundle: (module: string) => Bundle | undefined = (name) => getBundles().get(name),
): Code {
  const bundle = Stack.of(scope).bundlingRequired ? findBundle(module) : undefined;
  const maps = join(Stage.of(scope)?.assetOutdir ?? '', sourceMapsFolder);
  return Code.fromAsset(join(import.meta.dirname, '../../..'), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Docker is never asked. CDK takes assets whose commands are the same for one.
      image: DockerImage.fromRegistry('none'),
      command: [bundle?.name ?? module],
      local: {
        tryBundle(outputDir) {
          mkdirSync(maps, { recursive: true });
          for (const { name, contents } of bundle?.files ?? [])
            writeFileSync(join(outputDir, name), contents);
          // What has the same name is the same.
          for (const { name, contents } of bundle?.sourceMaps ?? [])
            if (!existsSync(join(maps, name))) writeFileSync(join(maps, name), contents);
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
