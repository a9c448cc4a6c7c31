import { describe, expect, it } from 'vitest';
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

/** Names that are such a word in its plain English sense. */
const exceptions: { readonly [name: string]: string } = {
  note: 'a line of `npm run deploy:check` that asks for nothing',
};

const files = loadSourceFiles();

describe('words', () => {
  it('of exported names are those of Kubernetes, AWS and Spinnaker', () => {
    const wrong = files.flatMap((file) =>
      listExportedNames(file)
        .filter((name) => !Object.hasOwn(exceptions, name))
        .flatMap((name) =>
          findBanned(name).map((word) => `${file.path}: ${name}: ${word} → ${banned[word]}`),
        ),
    );
    expect(wrong).toEqual([]);
  });

  it('of files are, too', () => {
    const wrong = files.flatMap(({ path }) =>
      (path.split('/').at(-1) ?? '')
        .split(/[-.]/)
        .filter((word) => Object.hasOwn(banned, word))
        .map((word) => `${path}: ${word} → ${banned[word]}`),
    );
    expect(wrong).toEqual([]);
  });
});

/** The banned ones among the words of a name: `noteUse` is made of note and use. */
function findBanned(name: string): string[] {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.filter((word) => Object.hasOwn(banned, word));
}

function listExportedNames({ parsed }: SourceFile): string[] {
  return parsed.module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ exportName: { name } }) => (name === null ? [] : [name])),
  );
}
