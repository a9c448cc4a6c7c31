import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Comparator, Condition, Given, Operand } from './conditions.ts';
import { getName } from './conditions.ts';
import { invalid } from './refusals.ts';
import type { KeyNames, RowRange, SortBound } from './table-rows.ts';

/**
 * The range of keys that a condition of a query names.
 *
 * @throws AwsError ValidationException for one that names no partition, or a range that is none
 */
export function toKeyRange(condition: Condition, keys: KeyNames, given: Given): RowRange {
  const parts = condition.kind === 'and' ? condition.parts : [condition];
  const partitions = parts.filter(
    (part) => part.kind === 'compare' && isOf(part.left, keys.partition, given),
  );
  const [partition] = partitions;
  if (partition?.kind !== 'compare' || partition.comparator !== '=' || partitions.length > 1) {
    throw invalid(`Query condition missed key schema element: ${keys.partition}`);
  }
  const rest = parts.filter((part) => part !== partition);
  if (rest.length > 1) throw invalid('Invalid KeyConditionExpression: too many conditions');
  return {
    partition: getText(partition.right, given),
    bounds: rest.flatMap((part) => toBounds(part, keys, given)),
  };
}

function toBounds(condition: Condition, keys: KeyNames, given: Given): readonly SortBound[] {
  const isOnSort = 'left' in condition && isOf(condition.left, keys.sort, given);
  if (isOnSort && condition.kind === 'between') {
    return [
      { comparator: '>=', value: getText(condition.from, given) },
      { comparator: '<=', value: getText(condition.to, given) },
    ];
  }
  if (isOnSort && condition.kind === 'begins_with') return toPrefixBounds(getText(condition.prefix, given));
  if (isOnSort && condition.kind === 'compare' && isRange(condition.comparator)) {
    return [{ comparator: condition.comparator, value: getText(condition.right, given) }];
  }
  throw invalid(`Query condition missed key schema element: ${keys.sort}`);
}

function isRange(comparator: Comparator): comparator is SortBound['comparator'] {
  return comparator !== '<>';
}

function isOf(operand: Operand, name: string, given: Given): boolean {
  return getName(operand, given) === name;
}

function getText(operand: Operand, { values }: Given): string {
  const value: AttributeValue | undefined = values[operand];
  if (value?.S !== undefined) return value.S;
  throw invalid(
    'One or more parameter values were invalid: Condition parameter type does not match schema type',
  );
}

/** All texts that begin so: those from it up to the first that does not. */
function toPrefixBounds(prefix: string): readonly SortBound[] {
  const end = findEnd([...prefix]);
  return [
    { comparator: '>=', value: prefix },
    ...(end === undefined ? [] : [{ comparator: '<', value: end } as const]),
  ];
}

const lastCharacter = 0x10ffff;

/** The least text that is greater than all that begin so, in the order of UTF-8; undefined when there is none. */
function findEnd(characters: readonly string[]): string | undefined {
  for (let index = characters.length - 1; index >= 0; index -= 1) {
    const code = characters[index]?.codePointAt(0) ?? 0;
    if (code === lastCharacter) continue;
    // Between them are the halves of pairs, which are no characters.
    const next = code >= 0xd7ff && code < 0xe000 ? 0xe000 : code + 1;
    return characters.slice(0, index).join('') + String.fromCodePoint(next);
  }
  return undefined;
}
