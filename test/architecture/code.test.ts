import { expect, it } from 'vitest';
import { findUnservedSettings } from '#settings/live/unserved-settings.ts';
import { expandKeys } from '#settings/spring-config.ts';
import { rules } from './import-rules.ts';
import { getCode, getLine, loadSourceFiles, parseFile, type SourceFile, walk } from './source-files.ts';

/** Where code is looked for, what it looks like, and the only files that have it. */
type CodeRule = readonly [within: RegExp, pattern: RegExp, ...only: string[]];

/** What runs: in Lambda, and on one machine. */
const running = /^(functions|infra\/(local|server)|shared)\//;
const shared = /^shared\//;

/** What some files do for all others, and what none does. */
const codeRules: { readonly [what: string]: CodeRule } = {
  'a pause that grows: a power but of constants': [
    running,
    /\*\* (?!\d)|Math\.pow\(/g,
    'shared/core/back-off.ts',
  ],
  'a pause that chance decides: a product with chance, but to pick one of a list': [
    running,
    /\b(fraction|Math\.random)\(\) \* (?![\w.]+\.length\b)|\* [\w.#]*(fraction|Math\.random)\(\)/g,
    'shared/core/back-off.ts',
  ],
  'a timer that goes by no given clock': [shared, /import \{[^}]*\bsetTimeout\b[^}]*\} from/g],
  'a wait that something else may end': [shared, /Promise\.race\(/g, 'shared/core/deadline.ts'],
  'a turn: the first who waits is called': [shared, /\bwait\w*\.shift\(/gi, 'shared/core/concurrency.ts'],
  "the machine's time: what is in memory goes by one clock, which no step moves": [
    /^(functions|infra\/(agent|kubernetes|local|server)|shared)\//,
    /Date\.now\(|new Date\(\)/g,
    'shared/platform/services/system.ts',
  ],
  'time and chance in rules, which take them as arguments': [
    new RegExp(`^(?:${rules})`),
    /Math\.random\(|performance\.now\(|process\./g,
  ],
  'the environment of the process': [/^(?!test\/)/, /process\.env/g, 'shared/platform/config.ts'],
  // The last two ask for WRITE: what the store says of rights, and whether values of a Secret are shown.
  "a look at a caller's rights to an account: answers go through one filter": [
    new RegExp(`^(?:functions/|(?!${rules}|shared/providers/)shared/)`),
    /mayUseAccount\(/g,
    ...['shared/access/http/access-gate.ts', 'shared/access/http/request-access.ts'],
    ...['shared/accounts/http/account-request.ts', 'shared/views/http/manifest-request.ts'],
  ],
};

it.each(Object.entries(codeRules))(
  'only the files that do it for all others have %s',
  (_, [within, pattern, ...only]) => {
    const found = loadSourceFiles()
      .filter(({ path }) => within.test(path))
      .map((file) => ({ path: file.path, code: getCode(file) }))
      .flatMap(({ path, code }) =>
        [...code.matchAll(pattern)].map(({ index }) => ({ path, line: getLine(code, index) })),
      );
    expect(found.filter(({ path }) => !only.includes(path))).toEqual([]);
    expect(new Set(found.map(({ path }) => path))).toEqual(new Set(only));
  },
);

it('nothing in shared/*/aws takes what a service answered for what it should be: item-reader.ts checks it', () => {
  const stores = loadSourceFiles().filter(({ path }) => /^shared\/[a-z-]+\/aws\//.test(path));
  expect(stores.flatMap(findCasts)).toEqual([]);
});

it('casts are found in all their forms, and no `as const` is one', () => {
  const text = 'f(x as string, <string>y, z!, { a: 1 } as const, [2] as const satisfies readonly number[]);';
  expect(findCasts(parseFile('a.ts', text))).toHaveLength(3);
});

it('settings are known: name them in `knownSettings` of the plug-in, or in `ownSettings` of shared/settings/live/known-settings.ts', () => {
  const pattern = /(?:[pP]ath = |getSetting\(\w+, )'((?!spring\.)[a-z]\w*(?:\.[\w-]+)+)'/g;
  const code = loadSourceFiles()
    .filter(({ path }) => shared.test(path))
    .map(getCode)
    .join('\n');
  const paths = [...code.matchAll(pattern)].map(([, path = '']) => path);
  expect(paths).toEqual(expect.arrayContaining(['busdriver.identity', 'credentials.primaryAccountTypes']));
  const isUnknown = (path: string) =>
    findUnservedSettings(expandKeys({ [path]: 'x' }), []).warnings.length > 0;
  expect(paths.filter(isUnknown)).toEqual([]);
});

/** Where a file has casts: `path:line`. */
function findCasts({ path, text, parsed }: SourceFile): string[] {
  const found: string[] = [];
  walk(parsed.program, ({ type, start, end }) => {
    const isCast = /^TS(As|NonNull)Expression$|^TSTypeAssertion$/.test(type);
    if (isCast && !text.slice(start, end).endsWith(' as const'))
      found.push(`${path}:${getLine(text, start)}`);
  });
  return found;
}
