import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { compareValues, isSameValue, type RawItem } from './attribute-values.ts';
import { type ExpressionTokens, namePattern, valuePattern } from './expression-tokens.ts';

/** The values of a request's placeholders. */
export interface Given {
  readonly names: { readonly [placeholder: string]: string };
  readonly values: { readonly [placeholder: string]: AttributeValue };
}

/** How two values are compared. */
export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>=';

/** An attribute's name, or a placeholder: `#name` of an attribute, `:value` of a value. */
export type Operand = string;

/** A condition, read. */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly part: Condition }
  | {
      readonly kind: 'compare';
      readonly left: Operand;
      readonly comparator: Comparator;
      readonly right: Operand;
    }
  | { readonly kind: 'between'; readonly left: Operand; readonly from: Operand; readonly to: Operand }
  | { readonly kind: 'in'; readonly left: Operand; readonly values: readonly Operand[] }
  | { readonly kind: 'attribute_exists' | 'attribute_not_exists'; readonly name: Operand }
  | { readonly kind: 'begins_with'; readonly left: Operand; readonly prefix: Operand };

const comparatorPattern = /^(=|<>|<|<=|>|>=)$/;

/**
 * Reads a condition: comparisons, `BETWEEN`, `IN`, `attribute_exists`, `attribute_not_exists` and `begins_with`, joined by `AND`, `OR`,
 * `NOT` and parentheses, of attributes at the top of an item. Other functions, and paths into documents, are refused: nothing of ours
 * sends them.
 *
 * @throws AwsError ValidationException
 */
export function readCondition(tokens: ExpressionTokens): Condition {
  return readJoined(tokens, 'or', () => readJoined(tokens, 'and', () => readPart(tokens)));
}

function readJoined(tokens: ExpressionTokens, kind: 'and' | 'or', readOne: () => Condition): Condition {
  const first = readOne();
  const parts = [first];
  while (tokens.takes(kind.toUpperCase())) parts.push(readOne());
  return parts.length === 1 ? first : { kind, parts };
}

function readPart(tokens: ExpressionTokens): Condition {
  if (tokens.takes('NOT')) return { kind: 'not', part: readPart(tokens) };
  if (tokens.takes('(')) {
    const inner = readCondition(tokens);
    tokens.expect(')');
    return inner;
  }
  const left = readOperand(tokens);
  if (tokens.takes('(')) return readFunction(tokens, left);
  if (tokens.takes('BETWEEN')) {
    const from = readOperand(tokens);
    tokens.expect('AND');
    return { kind: 'between', left, from, to: readOperand(tokens) };
  }
  if (tokens.takes('IN')) {
    tokens.expect('(');
    const values = tokens.readList(() => readOperand(tokens));
    tokens.expect(')');
    return { kind: 'in', left, values };
  }
  const comparator = tokens.read(comparatorPattern) as Comparator;
  return { kind: 'compare', left, comparator, right: readOperand(tokens) };
}

function readFunction(tokens: ExpressionTokens, name: string): Condition {
  const operands = tokens.readList(() => readOperand(tokens));
  tokens.expect(')');
  const [first = '', second] = operands;
  if (name === 'begins_with' && second !== undefined && operands.length === 2) {
    return { kind: name, left: first, prefix: second };
  }
  const isExistence = name === 'attribute_exists' || name === 'attribute_not_exists';
  if (isExistence && operands.length === 1 && namePattern.test(first)) return { kind: name, name: first };
  throw tokens.refuse(`Invalid function name; function: ${name}`);
}

function readOperand(tokens: ExpressionTokens): Operand {
  return valuePattern.test(tokens.peeked ?? '') ? tokens.read(valuePattern) : tokens.read(namePattern);
}

/** Whether an item meets a condition. @param item undefined where there is none: it has no attributes */
export function isMet(condition: Condition, item: RawItem | undefined, given: Given): boolean {
  const get = (operand: Operand) => getValue(operand, item, given);
  switch (condition.kind) {
    case 'and':
      return condition.parts.every((part) => isMet(part, item, given));
    case 'or':
      return condition.parts.some((part) => isMet(part, item, given));
    case 'not':
      return !isMet(condition.part, item, given);
    case 'compare':
      return compares(get(condition.left), condition.comparator, get(condition.right));
    case 'between': {
      const value = get(condition.left);
      return compares(value, '>=', get(condition.from)) && compares(value, '<=', get(condition.to));
    }
    case 'in': {
      const value = get(condition.left);
      return condition.values.some((one) => compares(value, '=', get(one)));
    }
    case 'attribute_exists':
      return get(condition.name) !== undefined;
    case 'attribute_not_exists':
      return get(condition.name) === undefined;
    case 'begins_with':
      return beginsWith(get(condition.left), get(condition.prefix));
  }
}

/** The name of the attribute that an operand is, or stands for. */
export function getName(operand: Operand, { names }: Given): string {
  return operand.startsWith('#') ? (names[operand] ?? '') : operand;
}

function getValue(operand: Operand, item: RawItem | undefined, given: Given): AttributeValue | undefined {
  if (operand.startsWith(':')) return given.values[operand];
  const name = getName(operand, given);
  return item !== undefined && Object.hasOwn(item, name) ? item[name] : undefined;
}

/** Values of two types are different, and neither is the greater one. */
function compares(
  left: AttributeValue | undefined,
  comparator: Comparator,
  right: AttributeValue | undefined,
): boolean {
  if (left === undefined || right === undefined) return comparator === '<>';
  if (comparator === '=') return isSameValue(left, right);
  if (comparator === '<>') return !isSameValue(left, right);
  const order = compareValues(left, right);
  if (order === undefined) return false;
  if (comparator === '<') return order < 0;
  if (comparator === '<=') return order <= 0;
  return comparator === '>' ? order > 0 : order >= 0;
}

function beginsWith(value: AttributeValue | undefined, prefix: AttributeValue | undefined): boolean {
  if (value?.S !== undefined && prefix?.S !== undefined) return value.S.startsWith(prefix.S);
  if (value?.B === undefined || prefix?.B === undefined) return false;
  return Buffer.from(value.B.subarray(0, prefix.B.length)).equals(prefix.B);
}
