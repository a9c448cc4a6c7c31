import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a command of AWS takes and answers. */
export interface AwsOperation {
  /** Options with the types of their values: `string`, `list<…>`, `{Members}`, `ONE|OTHER`; with `!` where they are required. */
  readonly options: { readonly [option: string]: string };
  /** Names of all members of its answer. */
  readonly answers: string;
}

/** The commands of AWS that pages use, as `test/deploy/aws.py --describe` tells them from the models of botocore. */
export const operationsFile: string = join(import.meta.dirname, 'aws-operations.json');

const operations = new Map(
  Object.entries(JSON.parse(readFileSync(operationsFile, 'utf8')) as { [name: string]: AwsOperation }),
);

/** Options that every command has. */
const everywhere = ['query', 'output', 'region', 'endpoint-url', 'profile'];

/** Commands of which each has one argument that is no option. */
const positionals = new Map([['logs/tail', 'group']]);

/** What is wrong with a command of AWS: a sentence each. @param args behind `aws` */
export function findAwsProblems(args: readonly string[]): string[] {
  const [service = '', command = '', ...rest] = args;
  const name = `${service}/${command}`;
  const operation = operations.get(name);
  if (operation === undefined)
    return [
      `${name} is not in aws-operations.json: add it there, and run the phase runbooks of npm run test:deploy`,
    ];
  if (rest.length === 0) return [];
  const given = parseOptions(rest, positionals.get(name));
  if (typeof given === 'string') return [`${name}: ${given}`];
  const missing = Object.entries(operation.options)
    .filter(([option, type]) => type.endsWith('!') && !given.has(option))
    .map(([option]) => `--${option} is missing`);
  const wrong = [...given].flatMap(([option, values]) => checkOption(operation, option, values));
  return [...missing, ...wrong].map((problem) => `${name}: ${problem}`);
}

/** Names of all commands that are known. */
export function listAwsOperations(): string[] {
  return [...operations.keys()];
}

function parseOptions(
  args: readonly string[],
  positional: string | undefined,
): ReadonlyMap<string, readonly string[]> | string {
  const given = new Map<string, string[]>();
  let current = positional;
  for (const arg of args) {
    if (arg.startsWith('--')) {
      current = arg.slice(2);
      if (given.has(current)) return `--${current} is there twice`;
      given.set(current, []);
    } else if (current === undefined) return `expected an option, got ${arg}`;
    else given.set(current, [...(given.get(current) ?? []), arg]);
  }
  return given;
}

function checkOption(
  { options, answers }: AwsOperation,
  option: string,
  values: readonly string[],
): string[] {
  if (option === 'query') return checkQuery(values.join(' '), answers);
  if (everywhere.includes(option)) return values.length === 1 ? [] : [`--${option}: expected one value`];
  const type = options[option]?.replace(/!$/, '');
  if (type === undefined) return [`there is no option --${option}`];
  return checkValues(type, values).map((problem) => `--${option}: ${problem}`);
}

function checkValues(type: string, values: readonly string[]): string[] {
  const [, element] = /^list<(.*)>$/.exec(type) ?? [];
  const [first = ''] = values;
  if (type === 'boolean') return values.length === 0 ? [] : ['expected no value'];
  if (/^[[{]/.test(first) && /^(list<|\{|map)/.test(type)) return checkJson(first);
  if (element !== undefined && values.length > 0)
    return values.flatMap((value) => checkValues(element, [value]));
  if (values.length !== 1) return [`expected one value, got ${values.length}`];
  if (type === 'integer' || type === 'long')
    return /^-?\d+$/.test(first) ? [] : [`expected a number, got ${first}`];
  if (type.startsWith('{')) return checkShorthand(type, first);
  if (type.includes('|') && !type.split('|').includes(first))
    return [`expected one of ${type}, got ${first}`];
  return [];
}

function checkJson(value: string): string[] {
  try {
    JSON.parse(value);
    return [];
  } catch {
    return [`expected JSON, got ${value}`];
  }
}

function checkShorthand(type: string, value: string): string[] {
  const members = type.slice(1, -1).split(' ');
  return value
    .split(/,(?=\w+=)/)
    .filter((part) => !members.includes(part.split('=')[0] ?? '') || !part.includes('='))
    .map((part) => `expected ${members.join(', ')}, got ${part}`);
}

/** Members that the answer does not have. Texts, functions and hashes' own keys aside. */
function checkQuery(query: string, answers: string): string[] {
  const known = new Set(answers.split(' '));
  const names = query
    .replaceAll(/'[^']*'|`[^`]*`/g, '')
    .replaceAll(/\b\w+(?=\()/g, '')
    .match(/[A-Za-z]\w*/g);
  const isType = (name: string): boolean => ['S', 'N', 'sk', 'pk'].includes(name);
  return (names ?? [])
    .filter((name) => !known.has(name) && !isType(name))
    .map((name) => `--query: the answer has no ${name}`);
}
