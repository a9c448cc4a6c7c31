import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Condition, type Given, readCondition } from './conditions.ts';
import { ExpressionTokens, namePattern } from './expression-tokens.ts';
import { invalid } from './refusals.ts';
import { type Change, readUpdate } from './updates.ts';

/** The expressions of a request, and the values of their placeholders. */
export interface ExpressionInput {
  readonly ConditionExpression?: string | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly KeyConditionExpression?: string | undefined;
  readonly FilterExpression?: string | undefined;
  readonly ProjectionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: { readonly [placeholder: string]: string } | undefined;
  readonly ExpressionAttributeValues?: { readonly [placeholder: string]: AttributeValue } | undefined;
}

/** The expressions of a request, read. */
export interface Expressions {
  readonly condition: Condition | undefined;
  readonly update: readonly Change[] | undefined;
  readonly keyCondition: Condition | undefined;
  readonly filter: Condition | undefined;
  /** Names of attributes, or placeholders of them. */
  readonly projection: readonly string[] | undefined;
}

interface Parsed extends Expressions {
  /** Placeholders in the texts. */
  readonly names: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
}

/** Expressions that are remembered at most; then all are forgotten. Busdriver has some dozens. */
const rememberedMax = 1_000;

/** By the texts of a request: they differ in their values alone, and reading them takes longer than all else that a write does. */
const remembered = new Map<string, Parsed>();

const nothing: { readonly [placeholder: string]: never } = {};

/**
 * Reads the expressions of a request, those of each text once.
 *
 * @returns them, and the values of their placeholders
 * @throws AwsError ValidationException for a text that is no expression, and for placeholders that are missing or not used
 */
export function readExpressions(input: ExpressionInput): Expressions & { readonly given: Given } {
  const { ConditionExpression: condition, UpdateExpression: update, KeyConditionExpression: key } = input;
  const { FilterExpression: filter, ProjectionExpression: projection } = input;
  const text = `${condition ?? ''}\0${update ?? ''}\0${key ?? ''}\0${filter ?? ''}\0${projection ?? ''}`;
  let parsed = remembered.get(text);
  if (parsed === undefined) {
    parsed = parse(input);
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(text, parsed);
  }
  const { ExpressionAttributeNames: names = nothing, ExpressionAttributeValues: values = nothing } = input;
  checkUse(parsed.names, names, 'Names');
  checkUse(parsed.values, values, 'Values');
  return { ...parsed, given: { names, values } };
}

function parse(input: ExpressionInput): Parsed {
  const texts: string[] = [];
  const read = <T>(
    kind: keyof ExpressionInput & `${string}Expression`,
    readOne: (t: ExpressionTokens) => T,
  ) => {
    const text = input[kind];
    if (text === undefined) return undefined;
    texts.push(text);
    const tokens = new ExpressionTokens(kind, text);
    const result = readOne(tokens);
    tokens.end();
    return result;
  };
  const expressions: Expressions = {
    condition: read('ConditionExpression', readCondition),
    update: read('UpdateExpression', readUpdate),
    keyCondition: read('KeyConditionExpression', readCondition),
    filter: read('FilterExpression', readCondition),
    projection: read('ProjectionExpression', (tokens) => tokens.readList(() => tokens.read(namePattern))),
  };
  const placeholders = texts.join(' ').match(/[#:]\w+/g) ?? [];
  return {
    ...expressions,
    names: new Set(placeholders.filter((each) => each.startsWith('#'))),
    values: new Set(placeholders.filter((each) => each.startsWith(':'))),
  };
}

function checkUse(used: ReadonlySet<string>, given: object, kind: 'Names' | 'Values'): void {
  for (const placeholder of used) {
    if (Object.hasOwn(given, placeholder)) continue;
    const what = kind === 'Names' ? 'name used in the document path' : 'value used in expression';
    const word = kind === 'Names' ? 'name' : 'value';
    throw invalid(
      `Invalid expression: An expression attribute ${what} is not defined; attribute ${word}: ${placeholder}`,
    );
  }
  for (const placeholder in given) {
    if (used.has(placeholder)) continue;
    throw invalid(
      `Value provided in ExpressionAttribute${kind} unused in expressions: keys: {${placeholder}}`,
    );
  }
}
