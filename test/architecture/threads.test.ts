import { expect, it } from 'vitest';
import { loadSourceFiles, resolveRequest, type SourceFile } from './source-files.ts';

const files = loadSourceFiles().filter(({ path }) => !path.startsWith('test/'));

/** Modules that threads begin with, or do the work of. */
const modules = new Set(
  files
    .filter(({ text }) => /^export const location = import\.meta\.url;$/m.test(text))
    .map(({ path }) => path),
);

/** Modules that a file loads at once; types are gone by then. */
function findEarlyImports({ path, text, parsed }: SourceFile): readonly string[] {
  return parsed.module.staticImports
    .filter(({ start, end }) => !/^import\s+type\b/.test(text.slice(start, end)))
    .map(({ moduleRequest: { value } }) => resolveRequest(path, value));
}

it('modules of threads are imported late alone: else bundles do not keep them in files of their own', () => {
  expect(modules).toContain('shared/threads/job-thread.ts');
  const early = files.flatMap((file) =>
    findEarlyImports(file)
      .filter((imported) => modules.has(imported))
      .map((imported) => `${file.path} imports ${imported}: write await import()`),
  );
  expect(early).toEqual([]);
});
