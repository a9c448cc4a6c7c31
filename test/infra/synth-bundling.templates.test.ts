import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Architecture, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { afterAll, describe, expect, it } from 'vitest';
import { getBundles } from '../../infra/bundles.ts';
import { toCode, toHandler } from '../../infra/bundling.ts';

const folder = mkdtempSync(join(tmpdir(), 'busdriver-bundling-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const modules = [...getBundles().keys()];

/** Synthesizes every function into a folder of that name. @returns where CDK put the code of each module. */
function synthesize(name: string): ReadonlyMap<string, string> {
  const outdir = join(folder, name);
  const app = new App({ outdir });
  const stack = new Stack(app, 'stack');
  for (const module of modules) {
    new LambdaFunction(stack, module, {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: toCode(module),
      handler: toHandler(module),
    });
  }
  app.synth();
  const assets = readdirSync(outdir).filter((asset) => asset.startsWith('asset.'));
  return new Map(
    modules.map((module) => {
      const found = assets.find((asset) => readdirSync(join(outdir, asset)).includes(toFile(module)));
      return [module, join(outdir, found ?? 'nowhere')];
    }),
  );
}

/** The file that Lambda imports. */
function toFile(module: string): string {
  return toHandler(module).replace(/\.handler$/, '.mjs');
}

const folders = synthesize('first');

describe('the code of a function', () => {
  it.each(modules)('%s is its bundle and nothing else', (module) => {
    const asset = folders.get(module) ?? '';
    const files = getBundles().get(module)?.files ?? [];

    expect(readdirSync(asset).sort()).toEqual(files.map(({ name }) => name).sort());
    expect(getBundles().get(module)?.entry).toBe(toFile(module));
  });

  it.each(modules)('%s has source maps, which name no folder of this machine', (module) => {
    const asset = folders.get(module) ?? '';
    const bundled = getBundles().get(module)?.files ?? [];
    // Those without sources pass on what others hold.
    const chunks = bundled.filter((file) => Object.keys(file.sources).length > 0).map(({ name }) => name);
    expect(chunks.length).toBeGreaterThan(0);
    const maps = chunks.map((name) => JSON.parse(readFileSync(join(asset, `${name}.map`), 'utf8')));
    const sources = (maps as { sources: readonly string[] }[]).flatMap((map) => map.sources);

    for (const name of chunks) {
      expect(readFileSync(join(asset, name), 'utf8')).toContain(`sourceMappingURL=${name}.map`);
    }
    expect(sources).toContain(`../functions/${module}.ts`);
    expect(sources.filter((source) => source.startsWith('/') || source.includes(folder))).toEqual([]);
  });

  it('has the name of what is in it, wherever it is made', () => {
    const names = (assets: ReadonlyMap<string, string>) =>
      [...assets].map(([module, asset]) => [module, asset.split('/').at(-1)]);

    expect(names(synthesize('second'))).toEqual(names(folders));
    expect(new Set(folders.values()).size).toBe(modules.length);
  });
});
