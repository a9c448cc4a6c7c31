import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listTargets, loadSourceFiles, readText } from './source-files.ts';

/** Rows of CONTRIBUTING.md: a folder, and its folders from top to bottom, of which each imports only those after it. `.` are its own files. */
const stacks = [...readText('CONTRIBUTING.md').matchAll(/^\| `(shared\/[\w/-]+)\/` \| (.*) \|$/gm)].map(
  ([, folder = '', row = '']) => {
    const subfolders = [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/\/$/, ''));
    return { folder, subfolders };
  },
);

/** Where no two folders may import each other. */
const layered = /^(shared|infra)\//;

/** Files of TypeScript in one folder of what runs. */
const folderFilesMax = 30;

const sources = loadSourceFiles().filter(({ path }) => !path.startsWith('test/'));

it('CONTRIBUTING.md has every subject and provider that has folders', () => {
  const large = sources.flatMap(
    ({ path }) => /^shared\/(providers\/|(?!providers\/))[^/]+(?=\/[^/]+\/)/.exec(path)?.[0] ?? [],
  );
  expect(stacks.map(({ folder }) => folder)).toEqual([...new Set(large)].sort());
});

describe.each(stacks)('the folders of $folder', ({ folder, subfolders }) => {
  const inside = sources.filter(({ path }) => path.startsWith(`${folder}/`));
  const getIndex = (path: string) => subfolders.indexOf(posix.relative(folder, posix.dirname(path)) || '.');

  it('are those of CONTRIBUTING.md', () => {
    const found = new Set(inside.map(({ path }) => posix.relative(folder, posix.dirname(path)) || '.'));
    expect([...found].sort()).toEqual([...subfolders].sort());
  });

  it('import only those after them', () => {
    const climbs = inside.flatMap((file) =>
      listTargets(file)
        .filter((target) => target.startsWith(`${folder}/`) && getIndex(target) < getIndex(file.path))
        .map((target) => `${file.path} imports ${target}, which is above it in CONTRIBUTING.md`),
    );
    expect(climbs).toEqual([]);
  });
});

describe('folders', () => {
  it(`have ${folderFilesMax} files of TypeScript at most`, () => {
    const folders = Map.groupBy(sources, ({ path }) => posix.dirname(path));
    const large = [...folders].filter(([, found]) => found.length > folderFilesMax);
    expect(large.map(([folder, found]) => `${folder} has ${found.length}`)).toEqual([]);
  });

  it('do not import each other, not even by way of others', () => {
    const files = sources.filter(({ path }) => layered.test(path));
    const graph = new Map<string, Set<string>>();
    for (const [from, found] of Map.groupBy(files, ({ path }) => posix.dirname(path))) {
      const targets = found.flatMap(listTargets).filter((target) => layered.test(target));
      graph.set(from, new Set(targets.map((target) => posix.dirname(target)).filter((to) => to !== from)));
    }
    expect(findKnot(graph)).toEqual([]);
  });
});

/** What is left of a graph when those that nobody of the rest needs, or that need nobody of the rest, are taken away again and again. */
function findKnot(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  let left = [...graph.keys()];
  for (;;) {
    const needy = left.filter((from) => left.some((to) => graph.get(from)?.has(to)));
    const needed = needy.filter((to) => left.some((from) => graph.get(from)?.has(to)));
    if (needed.length === left.length) return left.sort();
    left = needed;
  }
}
