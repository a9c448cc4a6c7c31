import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findImports, loadSourceFiles, root, type SourceFile } from './source-files.ts';

/**
 * The folders of large ones, from top to bottom: each imports only what stands below it. `.` are the files of the large folder itself.
 * CONTRIBUTING.md shows the same lists in words: change both.
 */
const stacks: { readonly [folder: string]: readonly string[] } = {
  'shared/access': ['http', 'services', 'identity', '.'],
  'shared/accounts': ['http', 'events', 'management', 'services', 'aws', '.', 'model'],
  'shared/agents': ['http', 'services', 'identity', 'protocol/grpc', 'sessions', 'aws', 'protocol', '.'],
  'shared/artifact-store': ['services', '.'],
  'shared/caching': [
    ...['events', 'services', 'aws/agents', 'aws/store', 'scheduling/streams', 'scheduling', 'store'],
  ],
  'shared/contract': ['.', 'answers'],
  'shared/http': ['events', '.', 'requests'],
  'shared/platform': ['services', 'aws/identity', 'aws/lookups', 'aws', 'ports', '.'],
  'shared/provider-kit': ['services', 'aws', '.'],
  'shared/providers/artifacts': ['.', 'git-repo', 'helm', 'maven', 'download', 'git'],
  'shared/providers/kubernetes': [
    '.',
    ...['v1/operations', 'v1/steps', 'v1/caching', 'v1/reads', 'v1/views', 'v1/read', 'v1/build'],
    'v1/descriptions',
    ...[
      ...['operations', 'operations/deploy', 'operations/steps', 'reads', 'views', 'caching', 'cache-writer'],
      ...['rows', 'v1/naming'],
    ],
    ...['account', 'watch', 'apply', 'client', 'manifest', 'kinds', 'transport', 'credentials', 'api'],
  ],
  'shared/settings': ['live', '.'],
  'shared/tasks': ['http', 'events', 'services', 'aws', 'requests', '.'],
  'shared/views': ['http', 'services', '.'],
};

/** Where no two folders may import each other. */
const rooms = /^(shared|infra)\//;

/** Files of TypeScript in one folder of what runs. */
const folderFilesMax = 30;

const sources = loadSourceFiles().filter(({ path }) => !path.startsWith('test/'));
const files = sources.filter(({ path }) => path.startsWith('shared/'));

describe.each(Object.entries(stacks))('the folders of %s', (folder, subfolders) => {
  const inside = files.filter(({ path }) => path.startsWith(`${folder}/`));

  it('are those of the list', () => {
    const found = new Set(inside.map(({ path }) => getSubfolder(path, folder)));
    expect([...found].sort()).toEqual([...subfolders].sort());
  });

  it('import only what stands below them', () => {
    expect(inside.flatMap((file) => findClimbs(file, { folder, subfolders }))).toEqual([]);
  });

  it('stand in CONTRIBUTING.md in this order', () => {
    const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
    const [, row = ''] = new RegExp(`^\\| \`${folder}/\` \\| (.*) \\|$`, 'm').exec(text) ?? [];
    const shown = [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/\/$/, ''));
    expect(shown).toEqual([...subfolders]);
  });
});

describe('folders', () => {
  it(`have ${folderFilesMax} files of TypeScript at most`, () => {
    const folders = Map.groupBy(sources, ({ path }) => posix.dirname(path));
    const large = [...folders].filter(([, found]) => found.length > folderFilesMax);
    expect(large.map(([folder, found]) => `${folder} has ${found.length}`)).toEqual([]);
  });

  it('do not import each other, not even by way of others', () => {
    const graph = new Map<string, Set<string>>();
    for (const file of sources.filter(({ path }) => rooms.test(path))) {
      const from = posix.dirname(file.path);
      const targets = findImports(file).filter((target) => rooms.test(target));
      for (const to of targets.map((target) => posix.dirname(target))) {
        if (to !== from) graph.set(from, (graph.get(from) ?? new Set()).add(to));
      }
    }
    expect(findKnot(graph)).toEqual([]);
  });
});

function getSubfolder(path: string, folder: string): string {
  return posix.relative(folder, posix.dirname(path)) || '.';
}

/** Imports of a file from a folder that stands above its own. */
function findClimbs(file: SourceFile, stack: { folder: string; subfolders: readonly string[] }): string[] {
  const { folder, subfolders } = stack;
  const own = getSubfolder(file.path, folder);
  return findImports(file)
    .filter((target) => target.startsWith(`${folder}/`))
    .filter((target) => subfolders.indexOf(getSubfolder(target, folder)) < subfolders.indexOf(own))
    .map(
      (target) => `${file.path} imports ${target}, but ${getSubfolder(target, folder)} stands above ${own}`,
    );
}

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
