import type { RawItem } from './attribute-values.ts';
import { invalid } from './refusals.ts';
import type { KeyNames, RowKey } from './table-rows.ts';

/** Bytes of a key's two parts: DynamoDB's bounds. */
const partitionBytesMax = 2_048;
const sortBytesMax = 1_024;

/**
 * The key of an item, or of a request.
 *
 * @param options.isItem whether other attributes than those of the key are allowed
 * @throws AwsError ValidationException
 */
export function toRowKey(keys: KeyNames, given: RawItem | undefined, { isItem = false } = {}): RowKey {
  if (given === undefined || (!isItem && Object.keys(given).length !== 2)) {
    throw invalid('The provided key element does not match the schema');
  }
  return {
    partition: getPart(given, keys.partition, partitionBytesMax),
    sort: getPart(given, keys.sort, sortBytesMax),
  };
}

/** Sees to it that an item has kept its key. @throws AwsError ValidationException */
export function checkKeyMembers(keys: KeyNames, item: RawItem, { partition, sort }: RowKey): void {
  for (const [name, value] of [
    [keys.partition, partition],
    [keys.sort, sort],
  ] as const) {
    if (item[name]?.S === value) continue;
    throw invalid(
      `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
    );
  }
}

function getPart(given: RawItem, name: string, bytesMax: number): string {
  const value = given[name]?.S;
  if (value === undefined) {
    throw invalid(
      `One or more parameter values were invalid: Missing the key ${name} in the item, or its type is not S`,
    );
  }
  if (value === '') {
    throw invalid(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
    );
  }
  if (value.length * 3 > bytesMax && Buffer.byteLength(value) > bytesMax) {
    throw invalid(
      `One or more parameter values were invalid: Size of the key ${name} has exceeded the maximum size limit of ${bytesMax} bytes`,
    );
  }
  return value;
}
