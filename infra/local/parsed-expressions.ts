import { createRequire } from 'node:module';

/** Expressions that are remembered at most, of all tables together; then all are forgotten. Busdriver has some dozens. */
const rememberedMax = 1_000;

/** Characters of the longest one that is remembered. */
const lengthMax = 4_096;

/** What depends on the values themselves, and not on their types alone. */
const dependsOnValues = /between|attribute_type/i;

/** Values and names that an expression may use, as dynalite hands them to its parsers. */
interface Context {
  readonly attrNames?: { readonly [placeholder: string]: string };
  readonly attrVals?: { readonly [placeholder: string]: object };
  /** Those that no expression of the request has used yet; a parser takes out what it finds. */
  readonly unusedAttrNames?: { [placeholder: string]: true };
  readonly unusedAttrVals?: { [placeholder: string]: true };
}

/** A parser of dynalite: a text is what is wrong with the expression. */
interface Parser {
  parse: (expression: string, options: { readonly context: Context }) => unknown;
}

/** What became of an expression, and the placeholders in it. */
interface Parsed {
  /** With {@link Placeholder} wherever a value stands. */
  readonly template: unknown;
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/** Where a value of the request stands. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

let isRemembering = false;

/**
 * Has dynalite parse each expression once, and not with each request. Its parsers take longer than all else that a write does, and
 * expressions differ in their values alone. Wrong ones are parsed each time.
 */
export function rememberParsedExpressions(): void {
  if (isRemembering) return;
  isRemembering = true;
  const require = createRequire(import.meta.url);
  for (const name of ['conditionParser', 'updateParser']) {
    const parser: Parser = require(`dynalite/db/${name}`);
    parser.parse = remember(parser.parse);
  }
}

function remember(parse: Parser['parse']): Parser['parse'] {
  const remembered = new Map<string, Parsed>();
  return (expression, options) => {
    const { context } = options;
    if (expression.length > lengthMax || dependsOnValues.test(expression)) return parse(expression, options);
    const key = toKey(expression, context);
    let parsed = remembered.get(key);
    if (parsed === undefined) {
      const own = {
        ...context,
        unusedAttrNames: markUnused(context.attrNames),
        unusedAttrVals: markUnused(context.attrVals),
      };
      const result = parse(expression, { context: own });
      if (typeof result === 'string') return result;
      parsed = {
        template: toTemplate(result, context.attrVals),
        names: Object.keys(context.attrNames ?? {}).filter((name) => !(name in own.unusedAttrNames)),
        values: Object.keys(context.attrVals ?? {}).filter((name) => !(name in own.unusedAttrVals)),
      };
      if (remembered.size >= rememberedMax) remembered.clear();
      remembered.set(key, parsed);
    }
    for (const name of parsed.names) delete context.unusedAttrNames?.[name];
    for (const name of parsed.values) delete context.unusedAttrVals?.[name];
    return fill(parsed.template, context.attrVals);
  };
}

/**
 * All that the result depends on: the types of values, not the values. Types and placeholders are words, and JSON has no line ends, so no two
 * requests look alike.
 */
function toKey(expression: string, { attrNames, attrVals }: Context): string {
  let types = '';
  for (const name in attrVals) {
    types += name;
    for (const type in attrVals[name]) types += `.${type}`;
  }
  return `${types}\n${attrNames === undefined ? '' : JSON.stringify(attrNames)}\n${expression}`;
}

function markUnused(members: object | undefined): { [placeholder: string]: true } {
  return Object.fromEntries(Object.keys(members ?? {}).map((name) => [name, true]));
}

/** Puts placeholders where values of the request stand. */
function toTemplate(result: unknown, values: Context['attrVals']): unknown {
  const names = new Map(Object.entries(values ?? {}).map(([name, value]) => [value, new Placeholder(name)]));
  const visit = (node: unknown): unknown => (isObject(node) ? (names.get(node) ?? copy(node, visit)) : node);
  return visit(result);
}

/** A copy with the values of another request: dynalite changes what it parsed. */
function fill(template: unknown, values: Context['attrVals']): unknown {
  const visit = (node: unknown): unknown => {
    if (node instanceof Placeholder) return values?.[node.name];
    return isObject(node) ? copy(node, visit) : node;
  };
  return visit(template);
}

function copy(node: object, visit: (member: unknown) => unknown): unknown {
  if (Array.isArray(node)) return node.map(visit);
  const made = Object.create(Object.getPrototypeOf(node));
  for (const name in node) made[name] = visit(node[name as keyof typeof node]);
  return made;
}

function isObject(node: unknown): node is object {
  return typeof node === 'object' && node !== null;
}
