import { Agent, type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type HostileRequest, hostileRequests } from '#test/acceptance/isolation/flood-data.ts';
import { chooseSize } from '../run/test-size.ts';

/** What a sender is told. */
export interface SenderData {
  readonly url: string;
  /** Of the row in the table. */
  readonly title: string;
}

/** What a sender tells when it is done: how its requests were answered. */
export interface SenderReport {
  readonly answers: readonly HostileAnswer[];
  /** Requests that were held, and not answered until they were given up. */
  readonly held: number;
}

/** One answer. */
export interface HostileAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The beginning of the body. */
  readonly body: string;
  /** Milliseconds from the first byte of the request to the answer's head. */
  readonly waitedMs: number;
}

/** Milliseconds for which requests are held that are not answered. */
const holdMs = chooseSize({ short: 2_000, long: 3_000 });

/** Characters of an answer's body that are told. */
const bodyLength = 300;

/** A sender runs in a thread of its own: what it costs to send must not count as the time that others wait. */
if (parentPort !== null) {
  const { url, title } = workerData as SenderData;
  const hostile = hostileRequests.find((each) => each.title === title);
  if (hostile === undefined) throw new Error(`no hostile request has the title ${title}`);
  parentPort.postMessage(await sendAll(url, hostile));
}

async function sendAll(url: string, hostile: HostileRequest): Promise<SenderReport> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const body = hostile.body === undefined ? undefined : Buffer.from(hostile.body());
  const calls: ClientRequest[] = [];
  const answers: HostileAnswer[] = [];
  const waiting = Array.from({ length: hostile.times ?? 1 }, (_, index) => {
    const { headers = {}, method = 'GET' } = hostile;
    const user = hostile.asManyUsers ? { 'x-spinnaker-user': `user ${index}` } : {};
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const json = { 'content-type': 'application/json' };
    const options = {
      agent,
      method,
      path: hostile.path,
      headers: { ...json, ...headers, ...user, ...length },
    };
    const call = sendRequest(url, options);
    calls.push(call);
    return send(call, hostile.isHeld ? body?.subarray(0, -1) : body, hostile.isHeld === true).then(
      (answer) => {
        if (answer !== undefined) answers.push(answer);
      },
    );
  });
  const all = Promise.all(waiting);
  await (hostile.isHeld ? Promise.race([all, sleep(holdMs)]) : all);
  const report = { answers: [...answers], held: calls.length - answers.length };
  for (const call of calls) call.destroy();
  agent.destroy();
  return report;
}

/** Sends one request. Undefined for one that broke off before it was answered: whoever sends too much is cut off. */
async function send(
  call: ClientRequest,
  body: Buffer | undefined,
  isHeld: boolean,
): Promise<HostileAnswer | undefined> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    call.on('error', () => resolve(undefined));
    call.on('response', (response: IncomingMessage) => {
      const waitedMs = performance.now() - startMs;
      let text = '';
      const done = () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'],
          body: text,
          waitedMs,
        });
      response.setEncoding('utf8').on('error', done).on('end', done);
      response.on('data', (piece: string) => {
        text = (text + piece).slice(0, bodyLength);
      });
    });
    if (isHeld) call.write(body ?? '');
    else call.end(body);
  });
}
