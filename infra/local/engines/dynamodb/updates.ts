import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { RawItem } from './attribute-values.ts';
import { type Given, getName, type Operand } from './conditions.ts';
import { type ExpressionTokens, namePattern, valuePattern } from './expression-tokens.ts';
import { invalid } from './refusals.ts';

/** One change of an item, read. */
export type Change =
  | { readonly kind: 'set' | 'add'; readonly name: Operand; readonly value: Operand }
  | { readonly kind: 'append'; readonly name: Operand; readonly list: Operand; readonly values: Operand }
  | { readonly kind: 'remove'; readonly name: Operand };

type ReadChange = (tokens: ExpressionTokens, name: Operand) => Change;

const clauses: { readonly [clause: string]: ReadChange } = {
  SET: readSet,
  ADD: (tokens, name) => ({ kind: 'add', name, value: tokens.read(valuePattern) }),
  REMOVE: (_, name) => ({ kind: 'remove', name }),
};

/**
 * Reads an update: `SET` of values and of `list_append`, `ADD` of numbers, `REMOVE`, of attributes at the top of an item. What else
 * DynamoDB knows is refused: nothing of ours sends it.
 *
 * @throws AwsError ValidationException
 */
export function readUpdate(tokens: ExpressionTokens): readonly Change[] {
  const changes: Change[] = [];
  const seen = new Set<string>();
  do {
    const clause = tokens.read(/^(SET|ADD|REMOVE)$/i).toUpperCase();
    const readChange = clauses[clause];
    if (readChange === undefined || seen.has(clause)) {
      throw tokens.refuse(`The "${clause}" section can only be used once in an update expression;`);
    }
    seen.add(clause);
    changes.push(...tokens.readList(() => readChange(tokens, tokens.read(namePattern))));
  } while (tokens.peeked !== undefined);
  return changes;
}

function readSet(tokens: ExpressionTokens, name: Operand): Change {
  tokens.expect('=');
  if (valuePattern.test(tokens.peeked ?? '')) return { kind: 'set', name, value: tokens.read(valuePattern) };
  const called = tokens.read(/^\w+$/);
  if (called !== 'list_append') throw tokens.refuse(`Invalid function name; function: ${called}`);
  tokens.expect('(');
  const list = tokens.read(namePattern);
  tokens.expect(',');
  const values = tokens.read(valuePattern);
  tokens.expect(')');
  return { kind: 'append', name, list, values };
}

/**
 * An item after an update. Each change sees the item as it was before all of them.
 *
 * @throws AwsError ValidationException for what cannot be done to its attributes
 */
export function applyUpdate(changes: readonly Change[], before: RawItem, given: Given): RawItem {
  const after: { [attribute: string]: AttributeValue } = { ...before };
  const changed = new Set<string>();
  for (const change of changes) {
    const name = getName(change.name, given);
    if (changed.has(name)) {
      const both = `path one: [${name}], path two: [${name}]`;
      throw invalid(
        `Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; ${both}`,
      );
    }
    changed.add(name);
    const value = toValue(change, before, given);
    if (value === undefined) delete after[name];
    else after[name] = value;
  }
  return after;
}

function toValue(change: Change, before: RawItem, given: Given): AttributeValue | undefined {
  switch (change.kind) {
    case 'remove':
      return undefined;
    case 'set':
      return given.values[change.value];
    case 'append':
      return append(before[getName(change.list, given)], given.values[change.values]);
    case 'add':
      return add(before[getName(change.name, given)], given.values[change.value]);
  }
}

function append(list: AttributeValue | undefined, values: AttributeValue | undefined): AttributeValue {
  if (list === undefined) {
    throw invalid('The provided expression refers to an attribute that does not exist in the item');
  }
  if (list.L !== undefined && values?.L !== undefined) return { L: [...list.L, ...values.L] };
  throw invalid('An operand in the update expression has an incorrect data type');
}

/** Ours are integers, and milliseconds: as doubles they are what they are as decimals. */
function add(number: AttributeValue | undefined, value: AttributeValue | undefined): AttributeValue {
  const [sum, more] = [number === undefined ? '0' : number.N, value?.N];
  if (sum === undefined || more === undefined) {
    throw invalid('An operand in the update expression has an incorrect data type');
  }
  return { N: String(Number(sum) + Number(more)) };
}
