import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { rememberParsedExpressions } from '../../../infra/local/parsed-expressions.ts';

const require = createRequire(import.meta.url);

type Placeholders = { [name: string]: unknown };

/** What an expression is parsed with. */
interface Request {
  readonly expression: string;
  readonly names?: { readonly [name: string]: string };
  readonly values?: Placeholders;
}

interface Context {
  readonly attrNames: Request['names'];
  readonly attrVals: Request['values'];
  readonly unusedAttrNames: Placeholders;
  readonly unusedAttrVals: Placeholders;
  isReserved(name: string): boolean;
  compare(): boolean;
}

interface Parser {
  parse(expression: string, options: { readonly context: Context }): unknown;
}

/** Parses; an error is answered. What nothing used is answered with it, as dynalite asks for it. */
function run(parse: Parser['parse'], { expression, names, values }: Request): unknown {
  const mark = (members: object = {}): Placeholders =>
    Object.fromEntries(Object.keys(members).map((name) => [name, true]));
  const context: Context = {
    ...{ attrNames: names, attrVals: structuredClone(values) },
    ...{ unusedAttrNames: mark(names), unusedAttrVals: mark(values) },
    isReserved: (name) => name === 'size',
    compare: () => false,
  };
  let result: unknown;
  try {
    result = structuredClone(parse(expression, { context }));
  } catch (error) {
    result = String(error);
  }
  // A request with a wrong expression is refused as a whole.
  if (typeof result === 'string') return result;
  return { result, names: Object.keys(context.unusedAttrNames), values: Object.keys(context.unusedAttrVals) };
}

/** Requests of every shape, also wrong ones; those that follow each other differ in values, types or names alone. */
const requests: { readonly [parser: string]: readonly Request[] } = {
  conditionParser: [
    { expression: 'version < :v OR attribute_not_exists(pk)', values: { ':v': { N: '1' } } },
    { expression: 'version < :v OR attribute_not_exists(pk)', values: { ':v': { N: '2' } } },
    {
      expression: 'version < :v OR attribute_not_exists(pk)',
      values: { ':v': { N: '2' }, ':w': { S: 'w' } },
    },
    { expression: 'version < :v OR attribute_not_exists(pk)', values: {} },
    { expression: '#a.b[1] = :v', names: { '#a': 'first' }, values: { ':v': { L: [{ S: 'x' }] } } },
    { expression: '#a.b[1] = :v', names: { '#a': 'second' }, values: { ':v': { M: {} } } },
    { expression: '#a.b[1] = :v', names: { '#a': 'second', '#b': 'c' }, values: { ':v': { M: {} } } },
    { expression: ':v = pk AND begins_with(sk, :p)', values: { ':v': { S: 'a' }, ':p': { S: 'b' } } },
    { expression: ':v = pk AND begins_with(sk, :p)', values: { ':v': { S: 'c' }, ':p': { S: 'd' } } },
    { expression: ':v = pk AND begins_with(sk, :p)', values: { ':v': { S: 'c' }, ':p': { N: '1' } } },
    { expression: 'a IN (:v, :v, :w)', values: { ':v': { S: 'a' }, ':w': { S: 'b' } } },
    { expression: 'attribute_type(a, :t)', values: { ':t': { S: 'S' } } },
    { expression: 'attribute_type(a, :t)', values: { ':t': { S: 'X' } } },
    { expression: 'size = :v', values: { ':v': { S: 'a' } } },
    { expression: 'a = = :v', values: { ':v': { S: 'a' } } },
    { expression: '((a = :v))', values: { ':v': { S: 'a' } } },
  ],
  updateParser: [
    { expression: 'SET #a = :v, b.c = list_append(b.c, :l)', names: { '#a': 'a' }, values: lists('x') },
    { expression: 'SET #a = :v, b.c = list_append(b.c, :l)', names: { '#a': 'a' }, values: lists('y') },
    { expression: 'SET #a = :v, b.c = list_append(b.c, :l)', names: { '#a': 'b' }, values: lists('y') },
    { expression: 'ADD n :v', values: { ':v': { N: '1' } } },
    { expression: 'ADD n :v', values: { ':v': { S: 'one' } } },
    { expression: 'REMOVE a, a' },
  ],
};

function lists(text: string): Placeholders {
  return { ':v': { S: text }, ':l': { L: [{ S: text }] } };
}

const parsers = Object.keys(requests).map((name) => {
  const parser: Parser = require(`dynalite/db/${name}`);
  return { name, parser, original: parser.parse };
});

test('expressions that are parsed once mean what they mean each time', () => {
  rememberParsedExpressions();
  for (const { name, parser, original } of parsers) {
    expect(parser.parse).not.toBe(original);
    for (const round of [1, 2, 3]) {
      for (const request of requests[name] ?? []) {
        const label = `${name}, ${round}: ${request.expression}`;
        expect(run(parser.parse, request), label).toEqual(run(original, request));
      }
    }
  }
});

test('what was parsed can be changed without harm to the next one', () => {
  rememberParsedExpressions();
  const { parser } = parsers[0] ?? expect.fail();
  const parse = (): { expression: { type: string } } => {
    const context = { attrNames: undefined, attrVals: { ':v': { S: 'a' } }, isReserved: () => false };
    return parser.parse('a = :v', { context } as never) as never;
  };
  parse().expression.type = '<';
  parse().expression.type = '>';
  expect(parse().expression.type).toBe('=');
});
