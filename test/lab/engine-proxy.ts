import { Agent, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { getPath, isJsonObject, type JsonObject } from '#core/json.ts';
import { localRegion } from '#infra/server/functions/local-aws.ts';
import type { EngineCredentials } from '#platform/config.ts';
import { listenForProxy, type ProxyFront } from '#test/support/network/proxy-front.ts';
import { countUnits, type PartitionCapacity, type UnitKind } from './capacity.ts';
import {
  type Batch,
  type EngineAnswer,
  type EngineCall,
  type EngineService,
  findBatch,
  findPartition,
  toPartition,
  toRefusal,
  writes,
} from './engine-call.ts';
import type { EngineFault, EngineFaults } from './engine-faults.ts';

export interface EngineProxyOptions {
  readonly service: EngineService;
  readonly target: string;
  readonly credentials: EngineCredentials;
  readonly faults: EngineFaults;
  /** What is left of the throughput of DynamoDB's partitions. */
  readonly capacity: PartitionCapacity;
}

export interface EngineProxy extends AsyncDisposable {
  readonly url: string;
}

const signingNames = { dynamodb: 'dynamodb', sqs: 'sqs', eventbridge: 'events' } as const;

/** Starts a proxy that loses, delays and refuses calls, and lets no partition of DynamoDB do more than AWS lets it. */
export async function startEngineProxy(options: EngineProxyOptions): Promise<EngineProxy> {
  const agent = new Agent({ keepAlive: true });
  const { credentials, service } = options;
  const scope = { region: localRegion, service: signingNames[service] };
  const signer = new SignatureV4({ credentials, ...scope, sha256: Sha256 });
  const front: ProxyFront = await listenForProxy((request, response) => {
    // Whoever called went away, or was killed, or the engine was.
    pass({ ...options, agent, signer, front, request, response }).catch(() => response.destroy());
  });
  return {
    url: front.url,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      agent.destroy();
    },
  };
}

interface Passage extends EngineProxyOptions {
  readonly agent: Agent;
  readonly signer: SignatureV4;
  readonly front: ProxyFront;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function pass(passage: Passage): Promise<void> {
  const { request, response, faults, service } = passage;
  const sent = await buffer(request);
  const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
  const call = { service, action, input: parseObject(sent) };
  if (!(await outliveSilence(passage))) return;
  const fault = faults.draw(call);
  if (fault?.type === 'lost call') return breakOff(passage);
  if (fault?.type === 'late execution') {
    breakOff(passage);
    await sleep(fault.ms, undefined, { ref: false });
    await execute(passage, call);
    return;
  }
  if (fault?.type === 'throttle' || fault?.type === 'error')
    return write(response, toRefusal(service, fault.type));
  if (fault?.type === 'delay') await sleep(fault.ms);
  const answer = await execute(passage, call, fault);
  if (fault?.type === 'lost answer') return breakOff(passage);
  write(response, answer);
}

/** Waits while the service is silent. @returns whether the call goes on: its caller may have gone, or been refused */
async function outliveSilence({ request, response, faults, service }: Passage): Promise<boolean> {
  const silence = faults.findSilence(service);
  if (silence === undefined) return true;
  faults.count(`${service}: ${silence.mode}`);
  if (silence.mode === 'refuses') {
    write(response, toRefusal(service, 'away'));
    return false;
  }
  await sleep(silence.leftMs);
  return !request.socket.destroyed;
}

/** Has the engine do what of the call there is throughput for. */
async function execute(passage: Passage, call: EngineCall, fault?: EngineFault): Promise<EngineAnswer> {
  const { service, capacity, faults } = passage;
  const batch = findBatch(call);
  const kind: UnitKind = writes.has(call.action) ? 'write' : 'read';
  if (batch !== undefined) return executeBatch(passage, call, { batch, fault, kind });
  const partition = service === 'dynamodb' ? findPartition(call) : undefined;
  if (partition === undefined) return forward(passage, call);
  if (capacity.isSpent(partition, kind)) {
    faults.count('dynamodb: throughput of a partition is spent');
    return toRefusal(service, 'throttle');
  }
  const input = { ...call.input, ReturnConsumedCapacity: 'TOTAL' };
  // Calls that come together must not all find what is left for one of them.
  const expected = countUnits(call.input['Item'] ?? {}, kind);
  capacity.take(partition, kind, expected);
  const answer = await forward(passage, { ...call, input });
  const used = Number(getPath(answer.body, 'ConsumedCapacity', 'CapacityUnits') ?? expected);
  capacity.take(partition, kind, used - expected);
  return answer;
}

async function executeBatch(
  passage: Passage,
  call: EngineCall,
  {
    batch,
    fault,
    kind,
  }: { readonly batch: Batch; readonly fault: EngineFault | undefined; readonly kind: UnitKind },
): Promise<EngineAnswer> {
  const { service, capacity, faults } = passage;
  const isSpent = batch.parts.map(
    ({ partition }) => partition !== undefined && capacity.isSpent(partition, kind),
  );
  if (isSpent.includes(true)) faults.count('dynamodb: throughput of a partition is spent');
  const isKept = (index: number) => !isSpent[index] && (fault?.type !== 'part of a batch' || index % 2 === 1);
  const kept = batch.parts.filter((_, index) => isKept(index));
  // DynamoDB refuses a batch of which it can do nothing; other services tell so of each part.
  if (kept.length === 0) {
    return service === 'dynamodb'
      ? toRefusal(service, 'throttle')
      : { status: 200, headers: {}, body: batch.addRefused({}, isKept) };
  }
  for (const { partition, item } of kept) {
    if (partition !== undefined && kind === 'write')
      capacity.take(partition, kind, countUnits(item ?? {}, kind));
  }
  const answer = await forward(passage, kept.length === batch.parts.length ? call : batch.take(isKept));
  takeReadUnits(capacity, answer.body);
  if (answer.status !== 200 || kept.length === batch.parts.length) return answer;
  return { ...answer, body: batch.addRefused(answer.body, isKept) };
}

/** Takes what the items of a batch of reads cost. */
function takeReadUnits(capacity: PartitionCapacity, { Responses: tables }: JsonObject): void {
  if (!isJsonObject(tables)) return;
  for (const [table, items] of Object.entries(tables)) {
    for (const item of Array.isArray(items) ? items : []) {
      capacity.take(toPartition(table, String(getPath(item, 'pk', 'S'))), 'read', countUnits(item, 'read'));
    }
  }
}

/** Sends a call to the engine, signed anew: it may be another one than was signed. */
async function forward(passage: Passage, { action, input }: EngineCall): Promise<EngineAnswer> {
  const { request, response, target, signer, agent } = passage;
  const url = new URL(request.url ?? '/', target);
  const names = ['content-type', 'x-amz-target', 'x-amzn-query-mode'];
  const headers = Object.fromEntries(
    names.flatMap((name) =>
      request.headers[name] === undefined ? [] : [[name, String(request.headers[name])]],
    ),
  );
  const body = JSON.stringify(input);
  const place = { method: 'POST', protocol: 'http:', hostname: url.hostname, path: url.pathname };
  const signed = await signer.sign({ ...place, headers: { ...headers, host: url.host }, body });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const call = sendRequest(url, { method: 'POST', agent, headers: signed.headers })
    .once('response', resolve)
    .once('error', reject);
  // A caller who went away gets no messages.
  if (action === 'ReceiveMessage') response.once('close', () => call.destroy());
  call.end(body);
  const answer = await promise;
  return {
    status: answer.statusCode ?? 502,
    headers: keepHeaders(answer),
    body: parseObject(await buffer(answer)),
  };
}

function keepHeaders({ headers }: IncomingMessage): { readonly [name: string]: string } {
  const names = ['content-type', 'date', 'x-amzn-requestid', 'x-amzn-query-error'];
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

function parseObject(body: Buffer): JsonObject {
  const value: unknown = JSON.parse(body.toString('utf8') || '{}');
  return isJsonObject(value) ? value : {};
}

function write(response: ServerResponse, { status, headers, body }: EngineAnswer): void {
  response.writeHead(status, { ...headers }).end(JSON.stringify(body));
}

function breakOff({ front, request }: Passage): void {
  front.reset(request.socket);
}
