import { describe, expect, it } from 'vitest';
import { getCode, getLine, loadSourceFiles, parseFile, type SourceFile } from './source-files.ts';

const list = 'what follows from a list, by the list itself';
const limit =
  'bounds what the process has in memory or waits for, whoever asks; nothing of one is seen by others';
const name = 'has the name of its table and nothing else; nobody changes it';
const start = 'is what a start option names, before the first installation is opened';
const empty = 'is what has nothing; nobody changes it';

/** What outlives a call in a module, and why that mixes nothing of two installations. */
const exceptions: { readonly [place: string]: string } = {
  'shared/platform/services/process-services.ts ofProcess':
    'of a process of Lambda, which runs one installation',
  'shared/platform/services/logger.ts scope': 'holds fields by call, and each call has its own',
  'shared/platform/aws/item-reader.ts taskReader': name,
  'shared/platform/aws/item-reader.ts accountReader': name,
  'shared/platform/aws/item-reader.ts cacheReader': name,
  'shared/settings/coerce.ts dropped': 'counts within one parsing, which never waits',
  'shared/providers/fiat/answers.ts sharedSets': 'sets that nobody changes, by what they hold',
  'shared/providers/added.ts addedDeclarations': start,
  'shared/providers/added.ts addedPlugins': start,
  'shared/providers/kubernetes/client/discovery.ts builtIn': 'resources that every cluster serves',
  'shared/providers/kubernetes/manifest/traffic.ts indexes': list,
  'shared/providers/kubernetes/manifest/version.ts indexes': list,
  'shared/providers/artifacts/download/download-slots.ts slotsOfProcess': limit,
  'shared/threads/thread-pool.ts threadsOfProcess': limit,
  'shared/providers/artifacts/download/lookup-turns.ts turnsOfProcess': limit,
  'shared/providers/kubernetes/client/gathered-lists.ts gatheredLists': limit,
  'shared/providers/kubernetes/transport/answer-memory.ts answerMemory': limit,
  'shared/providers/kubernetes/credentials/oidc.ts logins':
    'found by who has its refresh token alone, which an identity provider may take once for all of them',
  'shared/providers/kubernetes/credentials/library-credential.ts limitRuns': limit,
  'shared/providers/kubernetes/credentials/broker-credential.ts slots':
    'found by who has its API key alone: all accounts of a process ask a broker together',
  'shared/providers/kubernetes/apply/patch-schema.ts plainField': empty,
  'shared/providers/kubernetes/apply/patch-schema.ts plainType': empty,
};

/** How a list, a map or a set is changed, and how a member of an object is. */
const changing = '(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill)\\(';
const assigning = '(?:\\.(\\w+)|\\[[^\\]]*\\])(?: [-+*/|&?]{0,3}= |\\+\\+|--)';

const files = loadSourceFiles().filter(({ path }) => /^(shared|functions)\//.test(path));
const found = files.flatMap(findState);

describe('modules of shared/ and functions/', () => {
  it('keep nothing between calls: what an installation opens hangs on its Services', () => {
    const wrong = found.filter(({ place }) => !Object.hasOwn(exceptions, place));
    expect(wrong.map(({ place, line, what }) => `${place} (line ${line}) ${what}`)).toEqual([]);
  });

  it('have the state that the exceptions name', () => {
    const places = found.map(({ place }) => place);
    expect(Object.keys(exceptions).filter((place) => !places.includes(place))).toEqual([]);
  });

  it('put nothing on the global object', () => {
    const guilty = files.filter(({ text }) =>
      /Object\.assign\(globalThis|globalThis(\.\w+|\[[^\]]+\]) =[^=]/.test(text),
    );
    expect(guilty.map(({ path }) => path)).toEqual([]);
  });
});

describe('state is found', () => {
  it.each([
    ['let opened;', 'may be reassigned'],
    ['export let opened = 1;', 'may be reassigned'],
    ['const known = new Map();', 'begins empty'],
    ['const known: string[] = [];', 'begins empty'],
    ['export const known = {};', 'begins empty'],
    ['const clock = createClock();', 'is made by createClock'],
    ['const scope = new AsyncLocalStorage();', 'is a new AsyncLocalStorage'],
    ["const names = new Set(['a']); function f() { names.add('b'); }", 'is changed by names.add'],
    ['const counts = { a: 1 }; const f = () => { counts.a += 1; };', 'is changed by counts.a'],
    ['const counts = { a: 1 }; const f = (name) => { counts[name]++; };', 'is changed by counts.[…]'],
  ])('in %s', (text, what) => {
    expect(findState(parseFile('planted.ts', text)).map((each) => each.what)).toEqual([what]);
  });

  it.each([
    "const names = new Set(['a']); export const has = (name) => names.has(name);",
    'const max = 5; const words = { a: [1] }; export const is = (a) => words.a === a;',
    'export function f() { let count = 0; const known = new Map(); known.set(1, 2); count += 1; }',
    'const make = () => new Map(); const handler = apiHandler(open, async () => ({}));',
    'class A { static list() { return []; } }',
  ])('but not in %s', (text) => {
    expect(findState(parseFile('planted.ts', text))).toEqual([]);
  });
});

interface State {
  /** File and name. */
  readonly place: string;
  readonly line: number;
  readonly what: string;
}

/** What of a module may change after it is loaded, by the look of it. */
function findState(file: SourceFile): State[] {
  const { path, text, parsed } = file;
  const code = getCode(file);
  const declarations = parsed.program.body
    .map((statement) => (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement))
    .filter((declaration) => declaration?.type === 'VariableDeclaration');
  return declarations.flatMap(({ kind, declarations: all }) =>
    all.flatMap(({ id, init, start }) => {
      if (id.type !== 'Identifier') return [];
      const value = init === null ? '' : text.slice(init.start, init.end);
      const changed = describeValue(value) ?? findChange(id.name, code);
      const what = kind === 'const' ? changed : 'may be reassigned';
      return what === undefined ? [] : [{ place: `${path} ${id.name}`, line: getLine(text, start), what }];
    }),
  );
}

/** By what a constant is made that can only be there to be filled, or holds something that changes. */
function describeValue(value: string): string | undefined {
  if (/^(\{\}|\[\]|new (Map|Set|WeakMap|WeakSet)(<.*>)?\(\))$/.test(value)) return 'begins empty';
  const [, type] = /^new (\w+)/.exec(value) ?? [];
  if (type !== undefined && !/^((Weak)?(Map|Set)|RegExp|URL|TextDecoder|TextEncoder|Uint8Array)$/.test(type))
    return `is a new ${type}`;
  const [, maker] = /^((?:create|open(?!Handler)|start|once|memo)\w*)(<.*>)?\(/.exec(value) ?? [];
  return maker === undefined ? undefined : `is made by ${maker}`;
}

/** How an object is changed anywhere in a file: by a call of a method of it, or an assignment to a member. */
function findChange(name: string, code: string): string | undefined {
  const found = new RegExp(`(?<![.\\w])${name}(?:\\.${changing}|${assigning})`).exec(code);
  return found === null ? undefined : `is changed by ${name}.${found[1] ?? found[2] ?? '[…]'}`;
}
