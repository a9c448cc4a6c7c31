import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { type Bundle, getBundles } from './bundles.ts';

/**
 * The code of a function, bundled by esbuild on this machine when its stack is.
 *
 * @param findBundle finds its bundle. Default: among those of all functions, which are made together
 */
export function toCode(
  module: string,
  findBundle: (module: string) => Bundle | undefined = (name) => getBundles().get(name),
): Code {
  return Code.fromAsset(join(import.meta.dirname, '..'), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Docker is never asked. CDK takes assets whose commands are the same for one.
      image: DockerImage.fromRegistry('none'),
      command: [module],
      local: {
        tryBundle(outputDir) {
          for (const { name, contents } of findBundle(module)?.files ?? []) {
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
