import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import type { RawItem, StoreClient } from '#platform/aws/table.ts';

/** A call with expressions, as a store sent it. */
export interface SentCall {
  readonly command: keyof typeof commands;
  readonly input: SentInput;
}

interface SentInput {
  readonly TableName?: string;
  readonly Key?: RawItem;
  readonly Item?: RawItem;
  readonly ExpressionAttributeNames?: { readonly [placeholder: string]: string };
  readonly ExpressionAttributeValues?: RawItem;
  readonly ExclusiveStartKey?: RawItem;
  readonly [member: string]: unknown;
}

const commands = { DeleteItemCommand, PutItemCommand, QueryCommand, UpdateItemCommand } as const;

const expressionNames = [
  ...['ConditionExpression', 'UpdateExpression', 'KeyConditionExpression', 'FilterExpression'],
  ...['ProjectionExpression'],
];

/** The calls that stores sent, one of each: calls with the same expressions differ in their values alone. */
export class SentCalls {
  readonly #calls = new Map<string, SentCall>();

  /** Takes a call, if it has expressions. */
  add(command: string, input: object): void {
    const sent = input as SentInput;
    const texts = expressionNames.map((name) => sent[name]);
    if (!Object.hasOwn(commands, command) || texts.every((text) => text === undefined)) return;
    const types = Object.entries(sent.ExpressionAttributeValues ?? {}).map(([name, value]) => [
      name,
      toType(value),
    ]);
    const key = JSON.stringify([
      command,
      texts,
      sent.ExpressionAttributeNames,
      types,
      sent.ExclusiveStartKey !== undefined,
    ]);
    if (!this.#calls.has(key)) this.#calls.set(key, { command: command as SentCall['command'], input: sent });
  }

  /** One call of each sort. */
  list(): readonly SentCall[] {
    return [...this.#calls.values()];
  }

  /** What shows a call in the message of a failure. */
  static describe({ command, input }: SentCall): string {
    const shown = [...expressionNames, 'ExpressionAttributeNames', 'ExpressionAttributeValues', 'Limit'];
    return `${command} ${JSON.stringify(Object.fromEntries(shown.map((name) => [name, input[name]])))}`;
  }
}

function toType(value: AttributeValue): string {
  return Object.keys(value).join();
}

/** Items that may stand in a table when a call comes. */
export function drawItems(call: SentCall): fc.Arbitrary<readonly RawItem[]> {
  const values = Object.values(call.input.ExpressionAttributeValues ?? {});
  const attributes = listAttributes(call.input).filter((name) => name !== 'pk' && name !== 'sk');
  const drawValue = fc.oneof(
    ...(values.length > 0 ? [fc.constantFrom(...values)] : []),
    fc.constantFrom<AttributeValue>({ S: '' }, { S: 'b' }, { S: '\u{1F600}' }, { S: '\uFFFD' }),
    fc.integer().map((number): AttributeValue => ({ N: String(number) })),
    fc.constantFrom<AttributeValue>({ BOOL: true }, { NULL: true }, { B: Uint8Array.of(1, 200) }),
    fc.constantFrom<AttributeValue>({ L: [] }, { L: [{ S: 'x' }] }, { M: {} }, { M: { a: { N: '1' } } }),
  );
  const drawn = fc.record(Object.fromEntries(attributes.map((name) => [name, drawValue])), {
    requiredKeys: [],
  });
  if (call.command === 'QueryCommand') {
    const sortKeys = drawSortKeys(call.input);
    const pk = call.input.ExpressionAttributeValues?.[':pk'] ?? { S: 'p' };
    const drawItem = fc.tuple(sortKeys, drawn).map(([sk, item]) => ({ ...item, pk, sk: { S: sk } }));
    return fc.uniqueArray(drawItem, { selector: ({ sk }) => sk.S, maxLength: 6 });
  }
  const { pk = { S: 'p' }, sk = { S: 's' } } = call.input.Key ?? call.input.Item ?? {};
  return fc.array(
    drawn.map((item) => ({ ...item, pk, sk })),
    { maxLength: 1 },
  );
}

/** Names of attributes in the expressions of a call. */
function listAttributes({ ExpressionAttributeNames: names = {}, ...input }: SentInput): string[] {
  const texts = expressionNames.map((name) => String(input[name] ?? '')).join(' ');
  const words = texts.match(/(?<![#:\w])[a-z]\w*/g) ?? [];
  const functions = ['attribute_exists', 'attribute_not_exists', 'begins_with', 'list_append'];
  return [...new Set([...words, ...Object.values(names)])].filter((name) => !functions.includes(name));
}

/** Sort keys at, before and behind those that a query names. */
function drawSortKeys({
  ExpressionAttributeValues: values = {},
  ExclusiveStartKey,
}: SentInput): fc.Arbitrary<string> {
  const named = [
    ...Object.entries(values)
      .filter(([name]) => name !== ':pk')
      .map(([, value]) => value.S),
  ];
  const texts = [...named, ExclusiveStartKey?.['sk']?.S].filter((text) => text !== undefined && text !== '');
  const near = texts.flatMap((text) => [
    text,
    `${text}a`,
    `${text}\u{10FFFF}`,
    `${text}\uFFFD`,
    text?.slice(0, -1),
  ]);
  return fc.constantFrom(...['a', 'z#', '\u{1F600}', ...near].filter((text): text is string => !!text));
}

/** What a call does to a table in which these items are, and answers. */
export async function observe(
  client: StoreClient,
  items: readonly RawItem[],
  call: SentCall,
): Promise<object> {
  const { command, input } = call;
  const TableName = 'expressions';
  for (const Item of items) await client.send(new PutItemCommand({ TableName, Item }));
  const Command = commands[command] as new (input: object) => PutItemCommand;
  const answer = await client.send(new Command({ ...input, TableName })).then(
    ({ $metadata: _, ConsumedCapacity: __, ...output }) => output,
    (error: unknown) => ({ refused: error instanceof Error ? error.name : String(error) }),
  );
  const keys = [...items, input.Key ?? input.Item].flatMap((item) =>
    item ? [{ pk: item['pk'], sk: item['sk'] }] : [],
  );
  const left: (RawItem | undefined)[] = [];
  for (const key of keys) {
    const Key = key as Record<string, AttributeValue>;
    left.push((await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item);
    await client.send(new DeleteItemCommand({ TableName, Key }));
  }
  return { answer, left };
}
