import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replacedPackages, standIn } from '#infra/tools/build/build.ts';
import { loadSourceFiles, root } from '#test/architecture/source-files.ts';

const files = loadSourceFiles().filter(({ path }) =>
  /^(shared|functions|infra\/(local|server|tools\/demo))\//.test(path),
);

/** Names that modules of `npm start` import to run, not as types, from packages in whose place it has a module of ours. */
const imported = new Set(
  files.flatMap(({ parsed }) =>
    parsed.module.staticImports
      .filter(({ moduleRequest }) => replacedPackages.includes(moduleRequest.value))
      .flatMap(({ entries }) => entries.filter(({ isType }) => !isType))
      .map(({ importName }) => String(importName.name)),
  ),
);

describe('what stands in for clients of the AWS SDK in npm start', () => {
  it('has what is imported of them, and nothing else', async () => {
    const exported: object = await import(join(root, standIn));
    expect(imported.size).toBeGreaterThan(10);
    expect(Object.keys(exported).sort()).toEqual([...imported].sort());
  });

  it('has commands that hold their input, as those of the SDK do', async () => {
    const ours: { readonly [name: string]: unknown } = await import(join(root, standIn));
    const theirs: { readonly [name: string]: unknown } = Object.assign(
      {},
      ...(await Promise.all(replacedPackages.map((name) => import(name)))),
    );
    const input = { TableName: 'tasks' };
    for (const name of [...imported].filter((each) => each.endsWith('Command'))) {
      for (const Command of [ours[name], theirs[name]] as (new (
        input: object,
      ) => { input: object })[]) {
        expect(new Command(input).input, name).toEqual(input);
      }
    }
  });

  it('is loaded by no other way', () => {
    const late = files.flatMap(({ path, text }) =>
      replacedPackages.filter((name) => text.includes(`import('${name}')`)).map((name) => `${path}: ${name}`),
    );
    expect(late).toEqual([]);
  });
});
