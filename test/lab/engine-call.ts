import { getPath, isJsonObject, type JsonObject } from '#core/json.ts';

/** The engines that stand in for AWS. */
export type EngineService = 'dynamodb' | 'sqs' | 'eventbridge';

export interface EngineCall {
  readonly service: EngineService;
  /** Such as `PutItem`. */
  readonly action: string;
  readonly input: JsonObject;
}

export interface EngineAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
}

/** How a service names what it refuses for a moment. */
interface Refusals {
  readonly namespace: string;
  readonly version: '1.0' | '1.1';
  readonly throttle: { readonly status: number; readonly code: string };
  readonly error: { readonly status: number; readonly code: string };
  readonly away: { readonly status: number; readonly code: string };
}

const away = { status: 503, code: 'ServiceUnavailable' };

const refusals: { readonly [S in EngineService]: Refusals } = {
  dynamodb: {
    namespace: 'com.amazonaws.dynamodb.v20120810',
    version: '1.0',
    throttle: { status: 400, code: 'ProvisionedThroughputExceededException' },
    error: { status: 500, code: 'InternalServerError' },
    away,
  },
  sqs: {
    namespace: 'com.amazonaws.sqs',
    version: '1.0',
    throttle: { status: 403, code: 'RequestThrottled' },
    error: { status: 500, code: 'InternalError' },
    away,
  },
  eventbridge: {
    namespace: 'com.amazonaws.eventbridge',
    version: '1.1',
    throttle: { status: 400, code: 'ThrottlingException' },
    error: { status: 500, code: 'InternalException' },
    away,
  },
};

/** What a service answers instead of doing what it was asked for. */
export function toRefusal(service: EngineService, reason: 'throttle' | 'error' | 'away'): EngineAnswer {
  const { namespace, version, [reason]: refusal } = refusals[service];
  const { status, code } = refusal;
  const fault = status >= 500 ? 'Receiver' : 'Sender';
  return {
    status,
    headers: {
      'content-type': `application/x-amz-json-${version}`,
      ...(service === 'sqs' && { 'x-amzn-query-error': `${code};${fault}` }),
    },
    body: { __type: `${namespace}#${code}`, message: 'refused by the laboratory' },
  };
}

/** Actions of DynamoDB that take write units; all others take read units. */
export const writes = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem']);

/** The partition of DynamoDB that a call of one item, or a query, is about; undefined for any other call. */
export function findPartition({ input }: EngineCall): string | undefined {
  const key =
    getPath(input, 'Key', 'pk', 'S') ??
    getPath(input, 'Item', 'pk', 'S') ??
    getPath(input, 'ExpressionAttributeValues', ':pk', 'S');
  return typeof key === 'string' ? toPartition(String(input['TableName']), key) : undefined;
}

/** Name of a partition of a table. */
export function toPartition(table: string, key: string): string {
  return `${table} ${key}`;
}

/** One of the parts of a batch. */
export interface BatchPart {
  /** The partition of DynamoDB that it is about; undefined with other services. */
  readonly partition?: string;
  /** The item that it writes, if any. */
  readonly item?: JsonObject;
}

/** A call of which a service may do a part and refuse the rest. */
export interface Batch {
  readonly parts: readonly BatchPart[];
  /** The call with those parts alone for which this is true. */
  take(isKept: (index: number) => boolean): EngineCall;
  /** The answer to such a call, with the others as refused. */
  addRefused(answer: JsonObject, isKept: (index: number) => boolean): JsonObject;
}

/** The batch that a call is; undefined when it is none. */
export function findBatch(call: EngineCall): Batch | undefined {
  if (call.action === 'BatchWriteItem') return toTableBatch(call, listWrites(call.input), 'UnprocessedItems');
  if (call.action === 'BatchGetItem') return toTableBatch(call, listReads(call.input), 'UnprocessedKeys');
  const { Entries: entries } = call.input;
  if (!Array.isArray(entries)) return undefined;
  return call.service === 'sqs'
    ? toMessageBatch(call, entries.filter(isJsonObject))
    : toEventBatch(call, entries.filter(isJsonObject));
}

interface TablePart extends BatchPart {
  readonly table: string;
  readonly request: JsonObject;
}

function listWrites(input: JsonObject): TablePart[] {
  return listTables(input).flatMap(([table, requests]) =>
    (Array.isArray(requests) ? requests : []).filter(isJsonObject).map((request) => {
      const item = getPath(request, 'PutRequest', 'Item');
      const key = getPath(item ?? getPath(request, 'DeleteRequest', 'Key'), 'pk', 'S');
      return {
        table,
        request,
        partition: toPartition(table, String(key)),
        ...(isJsonObject(item) && { item }),
      };
    }),
  );
}

function listReads(input: JsonObject): TablePart[] {
  return listTables(input).flatMap(([table, { Keys = [] }]) =>
    (Array.isArray(Keys) ? Keys : []).filter(isJsonObject).map((request) => {
      return { table, request, partition: toPartition(table, String(getPath(request, 'pk', 'S'))) };
    }),
  );
}

function listTables({ RequestItems: tables }: JsonObject): [string, JsonObject][] {
  return isJsonObject(tables) ? (Object.entries(tables) as [string, JsonObject][]) : [];
}

function toTableBatch(call: EngineCall, parts: readonly TablePart[], refusedName: string): Batch {
  const tables = new Map(listTables(call.input));
  const toRequestItems = (isTaken: (index: number) => boolean): JsonObject => {
    const items: JsonObject = {};
    for (const [table, whole] of tables) {
      const requests = parts
        .filter((part, index) => part.table === table && isTaken(index))
        .map((part) => part.request);
      if (requests.length > 0) items[table] = Array.isArray(whole) ? requests : { ...whole, Keys: requests };
    }
    return items;
  };
  return {
    parts,
    take: (isKept) => ({ ...call, input: { ...call.input, RequestItems: toRequestItems(isKept) } }),
    addRefused(answer, isKept) {
      const own = isJsonObject(answer[refusedName]) ? answer[refusedName] : {};
      return { ...answer, [refusedName]: { ...own, ...toRequestItems((index) => !isKept(index)) } };
    },
  };
}

/** A batch whose parts are its `Entries`. */
function toEntryBatch(
  call: EngineCall,
  entries: readonly JsonObject[],
  addRefused: Batch['addRefused'],
): Batch {
  const take: Batch['take'] = (isKept) => {
    const Entries = entries.filter((_, index) => isKept(index));
    return { ...call, input: { ...call.input, Entries } };
  };
  return { parts: entries.map(() => ({})), take, addRefused };
}

function toMessageBatch(call: EngineCall, entries: readonly JsonObject[]): Batch {
  return toEntryBatch(call, entries, (answer, isKept) => {
    const refused = entries.filter((_, index) => !isKept(index));
    const failed = refused.map(({ Id = '' }) => ({ Id, SenderFault: false, Code: 'InternalError' }));
    return { ...answer, Failed: [...(Array.isArray(answer['Failed']) ? answer['Failed'] : []), ...failed] };
  });
}

function toEventBatch(call: EngineCall, entries: readonly JsonObject[]): Batch {
  return toEntryBatch(call, entries, (answer, isKept) => {
    const results = Array.isArray(answer['Entries']) ? [...answer['Entries']] : [];
    const refused = { ErrorCode: 'ThrottlingException', ErrorMessage: 'refused by the laboratory' };
    const all = entries.map((_, index) => (isKept(index) ? (results.shift() ?? refused) : refused));
    const FailedEntryCount = all.filter((result) => isJsonObject(result) && 'ErrorCode' in result).length;
    return { ...answer, FailedEntryCount, Entries: all };
  });
}
