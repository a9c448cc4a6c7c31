import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { loadSourceFiles, type SourceFile } from './source-files.ts';

/** Words that readers know otherwise, or not at all, and what this project says instead. */
const banned: { readonly [word: string]: string } = {
  drain: 'catch up: in Kubernetes, drain empties a node',
  drained: 'caught up',
  follow: 'watch',
  followed: 'watched',
  follower: 'watcher',
  following: 'watch',
  note: 'record, touch, track: what is done',
  noted: 'recorded',
  patience: 'timeout',
  position: 'resourceVersion',
  pulse: 'probe',
  question: 'request, inputs: what it is',
  questions: 'requests, inputs: what they are',
  room: 'folder, memory, quota: what it is',
  round: 'attempt, watch: what it is',
  surroundings: 'environment, resources, options: what they are',
  distrust: 'invalidate',
  wave: 'batch',
};

/** Names that are such a word in its plain English sense: a line of `npm run deploy:check` that asks for nothing. */
const exceptions = ['note'];

it.each([
  { what: 'exported names', list: listExportedNames },
  { what: 'files', list: ({ path }: SourceFile) => [posix.basename(path)] },
])('words of $what are those of Kubernetes, AWS and Spinnaker', ({ list }) => {
  const wrong = loadSourceFiles().flatMap((file) =>
    list(file).flatMap((name) =>
      findBanned(name).map((word) => `${file.path}: ${name}: ${word} → ${banned[word]}`),
    ),
  );
  expect(wrong).toEqual([]);
});

/** The banned ones among the words of a name: `noteUse` is made of note and use. */
function findBanned(name: string): string[] {
  if (exceptions.includes(name)) return [];
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return words.split(/[^a-z]+/).filter((word) => Object.hasOwn(banned, word));
}

function listExportedNames({ parsed }: SourceFile): string[] {
  return parsed.module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ exportName: { name } }) => (name === null ? [] : [name])),
  );
}
