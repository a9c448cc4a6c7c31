import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { getLine, loadSourceFiles, type SourceFile, type SyntaxNode, walk } from './source-files.ts';

const list = 'what follows from a list, by the list itself';
const limit =
  'bounds what the process has in memory or waits for, whoever asks; nothing of one is seen by others';
const name = 'has the name of its table and nothing else; nobody changes it';
const empty = 'stands for what has nothing; nobody changes it';

/** What outlives a call in a module, and why that mixes nothing of two installations. */
const exceptions: { readonly [place: string]: string } = {
  'shared/runtime/services/process-services.ts ofProcess':
    'of a process of Lambda, which runs one installation',
  'shared/runtime/services/logger.ts scope': 'holds fields by call, and each call has its own',
  'shared/aws/item-reader.ts taskReader': name,
  'shared/aws/item-reader.ts accountReader': name,
  'shared/aws/item-reader.ts cacheReader': name,
  'shared/core/settings/bounded-fields.ts dropped': 'counts within one parsing, which never waits',
  'shared/providers/fiat/answers.ts sharedSets': 'sets that nobody changes, by what they hold',
  'shared/providers/kubernetes/client/discovery.ts builtIn': 'resources that every cluster serves',
  'shared/providers/kubernetes/account/account.ts readEntries':
    'what follows from an entry, by the entry itself',
  'shared/providers/kubernetes/manifest/traffic.ts indexes': list,
  'shared/providers/kubernetes/manifest/version.ts indexes': list,
  'shared/providers/artifacts/download-slots.ts slotsOfProcess': limit,
  'shared/threads/thread-pool.ts threadsOfProcess': limit,
  'shared/providers/artifacts/lookup-turns.ts turnsOfProcess': limit,
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

const files = loadSourceFiles().filter(({ path }) => /^(shared|functions)\//.test(path));

describe('modules of shared/ and functions/', () => {
  it('keep nothing between calls: what an installation opens hangs on its Services', () => {
    const found = files
      .flatMap(findState)
      .map(({ place, line, what }) => ({ place, text: `${place} (line ${line}) ${what}` }));
    expect(found.filter(({ place }) => exceptions[place] === undefined).map(({ text }) => text)).toEqual([]);
  });

  it('have the state that the exceptions name', () => {
    const places = new Set(files.flatMap(findState).map(({ place }) => place));
    expect(Object.keys(exceptions).filter((place) => !places.has(place))).toEqual([]);
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
    ['let opened;', 'may be assigned anew'],
    ['export let opened = 1;', 'may be assigned anew'],
    ['const known = new Map();', 'begins empty'],
    ['const known: string[] = [];', 'begins empty'],
    ['export const known = {};', 'begins empty'],
    ['const clock = createClock();', 'is made by createClock'],
    ['const scope = new AsyncLocalStorage();', 'is a new AsyncLocalStorage'],
    ["const names = new Set(['a']); function f() { names.add('b'); }", 'is changed by names.add'],
    ['const counts = { a: 1 }; const f = () => { counts.a += 1; };', 'is changed by counts.a'],
  ])('in %s', (text, what) => {
    const parsed = parseSync('planted.ts', text);
    expect(findState({ path: 'planted.ts', text, parsed }).map((each) => each.what)).toEqual([what]);
  });

  it.each([
    "const names = new Set(['a']); export const has = (name) => names.has(name);",
    'const max = 5; const words = { a: [1] };',
    'export function f() { let count = 0; const known = new Map(); known.set(1, 2); count += 1; }',
    'const make = () => new Map(); const handler = apiHandler(open, async () => ({}));',
    'class A { static list() { return []; } }',
  ])('but not in %s', (text) => {
    const parsed = parseSync('planted.ts', text);
    expect(findState({ path: 'planted.ts', text, parsed })).toEqual([]);
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
  const changes = findChanges(parsed.program);
  return listVariables(parsed.program).flatMap(({ kind, name, init, start }) => {
    const what = kind === 'const' ? (describeValue(init) ?? changes.get(name)) : 'may be assigned anew';
    return what === undefined ? [] : [{ place: `${path} ${name}`, line: getLine(text, start), what }];
  });
}

interface Variable {
  readonly kind: string;
  readonly name: string;
  readonly init: SyntaxNode | null;
  readonly start: number;
}

/** Variables of the module itself, exported or not. */
function listVariables({ body }: SourceFile['parsed']['program']): Variable[] {
  return body
    .map((statement) => (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement))
    .flatMap((declaration) => (declaration?.type === 'VariableDeclaration' ? [declaration] : []))
    .flatMap(({ kind, declarations }) =>
      declarations.flatMap(({ id, init, start }) =>
        id.type === 'Identifier' ? [{ kind, name: id.name, init: init as SyntaxNode | null, start }] : [],
      ),
    );
}

/** By what a constant is made that can only be there to be filled, or holds something that changes. */
function describeValue(init: SyntaxNode | null): string | undefined {
  if (init?.type === 'NewExpression') return describeNew(init);
  if (init?.type === 'ObjectExpression') return isEmpty(init['properties']) ? 'begins empty' : undefined;
  if (init?.type === 'ArrayExpression') return isEmpty(init['elements']) ? 'begins empty' : undefined;
  const name = init?.type === 'CallExpression' ? getName(init['callee']) : undefined;
  return name !== undefined && /^(create|open(?!Handler)|start|once|memo)/.test(name)
    ? `is made by ${name}`
    : undefined;
}

function describeNew(init: SyntaxNode): string | undefined {
  const name = getName(init['callee']) ?? 'object';
  if (/^(Map|Set|WeakMap|WeakSet)$/.test(name))
    return isEmpty(init['arguments']) ? 'begins empty' : undefined;
  return /^(RegExp|URL|TextDecoder|TextEncoder|Uint8Array)$/.test(name) ? undefined : `is a new ${name}`;
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}

function getName(node: unknown): string | undefined {
  const { type, name } = node as SyntaxNode;
  return type === 'Identifier' ? String(name) : undefined;
}

const changing = /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill)$/;

/** How objects are changed anywhere in a file, by the name of the variable that holds them. */
function findChanges(program: unknown): ReadonlyMap<string, string> {
  const changes = new Map<string, string>();
  const note = (target: unknown, isChange: (member: string) => boolean): void => {
    const { type, object, property } = target as SyntaxNode;
    const owner = type === 'MemberExpression' ? getName(object) : undefined;
    const member = getName(property ?? { type: '' }) ?? '[…]';
    if (owner !== undefined && isChange(member)) changes.set(owner, `is changed by ${owner}.${member}`);
  };
  walk(program, (node) => {
    if (node.type === 'CallExpression') note(node['callee'], (member) => changing.test(member));
    if (node.type === 'AssignmentExpression') note(node['left'], () => true);
    if (node.type === 'UpdateExpression') note(node['argument'], () => true);
  });
  return changes;
}
