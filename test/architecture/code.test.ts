import { expect, it } from 'vitest';
import { rules } from './import-rules.ts';
import { getCode, getLine, loadSourceFiles } from './source-files.ts';

/** What some files do for all others. */
interface CodeRule {
  readonly what: string;
  readonly pattern: RegExp;
  /** Where it is looked for. */
  readonly within: RegExp;
  /** The only files that have it. */
  readonly only: readonly string[];
}

const backOff = 'shared/core/back-off.ts';
const concurrency = 'shared/core/concurrency.ts';
const deadline = 'shared/core/deadline.ts';
/** Asks the machine for the time. */
const system = 'shared/platform/services/system.ts';
/** What runs: in Lambda, and on one machine. */
const running = /^(functions|infra\/(local|server)|shared)\//;
const shared = /^shared\//;

const codeRules: readonly CodeRule[] = [
  {
    what: 'a pause that grows: a power but of constants',
    pattern: /\*\* (?!\d)|Math\.pow\(/g,
    within: running,
    only: [backOff],
  },
  {
    what: 'a pause that chance decides: a product with chance, but to pick one of a list',
    pattern: /\b(fraction|Math\.random)\(\) \* (?![\w.]+\.length\b)|\* [\w.#]*(fraction|Math\.random)\(\)/g,
    within: running,
    only: [backOff],
  },
  {
    what: 'a timer that goes by no given clock',
    pattern: /import \{[^}]*\bsetTimeout\b[^}]*\} from/g,
    within: shared,
    only: [],
  },
  {
    what: 'a wait that something else may end',
    pattern: /Promise\.race\(/g,
    within: shared,
    only: [deadline],
  },
  {
    what: 'a turn: the first who waits is called',
    pattern: /\bwait\w*\.shift\(/gi,
    within: shared,
    only: [concurrency],
  },
  {
    what: "the machine's time: what is in memory goes by one clock, which no step moves",
    pattern: /Date\.now\(|new Date\(\)/g,
    within: /^(functions|infra\/(agent|kubernetes|local|server)|shared)\//,
    only: [system],
  },
  {
    what: 'time and chance in rules, which take them as arguments',
    pattern: /Math\.random\(|performance\.now\(|process\./g,
    within: new RegExp(`^(?:${rules})`),
    only: [],
  },
  {
    what: 'the environment of the process',
    pattern: /process\.env/g,
    within: /^(?!test\/)/,
    only: ['shared/platform/config.ts'],
  },
  {
    // The last two ask for WRITE: what the store says of rights, and whether values of a Secret are shown.
    what: "a look at a caller's rights to an account: answers go through one filter",
    pattern: /mayUseAccount\(/g,
    within: new RegExp(`^(?:functions/|(?!${rules}|shared/providers/)shared/)`),
    only: [
      ...['shared/access/http/access-gate.ts', 'shared/access/http/request-access.ts'],
      ...['shared/accounts/http/account-request.ts', 'shared/views/http/manifest-request.ts'],
    ],
  },
];

it.each(codeRules)('only $only have $what', ({ pattern, within, only }) => {
  const found = loadSourceFiles()
    .filter(({ path }) => within.test(path))
    .map((file) => ({ path: file.path, code: getCode(file) }))
    .flatMap(({ path, code }) =>
      [...code.matchAll(pattern)].map(({ index }) => ({ path, line: getLine(code, index) })),
    );
  expect(found.filter(({ path }) => !only.includes(path))).toEqual([]);
  expect(new Set(found.map(({ path }) => path))).toEqual(new Set(only));
});
