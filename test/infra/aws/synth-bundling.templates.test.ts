import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Architecture, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { afterAll, describe, expect, it } from 'vitest';
import { getBundle } from '#infra/aws/bundling/bundles.ts';
import { sourceMapsFolder, toCode, toHandler } from '#infra/aws/bundling/bundling.ts';
import { listFunctions } from '#test/support/system/function-bundles.ts';

const folder = mkdtempSync(join(tmpdir(), 'busdriver-bundling-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The first function of each kind: to write all of them takes minutes. */
const modules = [...Map.groupBy(listFunctions(), ({ kind }) => kind).values()].map(
  ([first]) => first?.module ?? '',
);

/** Synthesizes these functions into a folder of that name. @returns where CDK put the code of each module. */
function synthesize(name: string, written: readonly string[]): ReadonlyMap<string, string> {
  const outdir = join(folder, name);
  const app = new App({ outdir, builtinCloudFormationValidation: false });
  const stack = new Stack(app, 'stack');
  for (const module of written) {
    new LambdaFunction(stack, module, {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: toCode(stack, module, getBundle),
      handler: toHandler(module),
    });
  }
  app.synth();
  const assets = readdirSync(outdir).filter((asset) => asset.startsWith('asset.'));
  return new Map(
    written.map((module) => {
      const found = assets.find((asset) => readdirSync(join(outdir, asset)).includes(toFile(module)));
      return [module, join(outdir, found ?? 'nowhere')];
    }),
  );
}

/** The file that Lambda imports. */
function toFile(module: string): string {
  return toHandler(module).replace(/\.handler$/, '.mjs');
}

const folders = synthesize('first', modules);

describe('the code of a function', () => {
  it.each(modules)('%s is its bundle and nothing else', (module) => {
    const asset = folders.get(module) ?? '';
    const { entry, files } = getBundle(module);
    expect(readdirSync(asset).sort()).toEqual(files.map(({ name }) => name).sort());
    for (const { name, contents } of files)
      expect(readFileSync(join(asset, name)).equals(contents), name).toBe(true);
    expect(entry).toBe(toFile(module));
  });

  it.each(modules)('%s has its source maps beside it', (module) => {
    for (const { name, contents } of getBundle(module).sourceMaps)
      expect(readFileSync(join(folder, 'first', sourceMapsFolder, name)).equals(contents), name).toBe(true);
  });

  it('is shared by functions that begin with nearly the same', () => {
    const shared = ['api/tasks/get-task', 'api/tasks/list-tasks'];
    expect(new Set(synthesize('shared', shared).values()).size).toBe(1);
  });

  it('has the name of what is in it, wherever it is made', () => {
    const names = (assets: ReadonlyMap<string, string>) =>
      modules.slice(0, 2).map((module) => assets.get(module)?.split('/').at(-1));
    expect(names(synthesize('second', modules.slice(0, 2)))).toEqual(names(folders));
    expect(new Set(folders.values()).size).toBe(modules.length);
  });
});
