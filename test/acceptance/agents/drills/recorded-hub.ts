import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listen } from '#test/support/network/listening.ts';

/** What agents and Busdriver said to each other, by the call: `POST /agent/v1/sessions`, each id as `*`. */
export interface RecordedHub extends AsyncDisposable {
  readonly url: string;
  readonly said: ReadonlyMap<string, string>;
}

export interface Refusal {
  readonly status: number;
  readonly retryAfterSeconds?: number;
}

export interface RecordHubOptions {
  /**
   * Answers a call that then is neither passed on nor remembered; undefined passes it on. Default: all are passed on.
   *
   * @param call as `said` has it
   */
  refuse?(call: string, body: Buffer): Refusal | undefined | Promise<Refusal | undefined>;
}

/** Listens in front of Busdriver, and remembers what passes. @param url of Busdriver, http */
export async function recordHub(
  url: string,
  { refuse = () => undefined }: RecordHubOptions = {},
): Promise<RecordedHub> {
  const said = new Map<string, string>();
  const keep = (call: string, text: string): void => void said.set(call, `${said.get(call) ?? ''}\n${text}`);
  const server = createServer((near, answer) => {
    passOn(url, { near, answer, keep, refuse }).catch(() => answer.destroy());
  });
  server.on('connection', (socket) => socket.on('error', () => undefined));
  server.on('upgrade', (near, socket, head) => upgrade(url, { near, socket, head, keep }));
  return { ...(await listen(server)), said };
}

type Keep = (call: string, text: string) => void;

interface Passage {
  readonly near: IncomingMessage;
  readonly answer: ServerResponse;
  readonly keep: Keep;
  readonly refuse: NonNullable<RecordHubOptions['refuse']>;
}

async function passOn(url: string, { near, answer, keep, refuse }: Passage): Promise<void> {
  const body = await buffer(near);
  const refusal = await refuse(toCall(near), body);
  if (refusal !== undefined) {
    const { status, retryAfterSeconds } = refusal;
    if (retryAfterSeconds !== undefined) answer.setHeader('retry-after', String(retryAfterSeconds));
    answer.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    return;
  }
  const { method = 'GET', url: target = '/', headers } = near;
  const far = await new Promise<IncomingMessage>((resolve, reject) => {
    const place = new URL(target, url);
    request(place, { method, headers: { ...headers, host: place.host } })
      .once('response', resolve)
      .once('error', reject)
      .end(body);
  });
  const told = await buffer(far);
  keep(toCall(near), `${toText(headers, body)}\n${toText(far.headers, told)}`);
  answer.writeHead(far.statusCode ?? 502, far.headers).end(told);
}

/** What is packed is kept unpacked: whoever looks for something in it must be able to find it. */
function toText(headers: IncomingMessage['headers'], body: Buffer): string {
  const isPacked = headers['content-type'] === 'application/gzip' || headers['content-encoding'] === 'gzip';
  return (isPacked ? gunzipSync(body) : body).toString('latin1');
}

interface Upgrade {
  readonly near: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly keep: Keep;
}

/** What Busdriver sends is kept; what agents send is masked by the protocol. */
function upgrade(url: string, { near, socket, head, keep }: Upgrade): void {
  const { hostname, port, host } = new URL(url);
  const far = connect(Number(port), hostname);
  const headers = { ...near.headers, host };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  far.write(`${near.method} ${near.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  far.write(head);
  far.on('data', (bytes: Buffer) => keep(toCall(near), bytes.toString('latin1')));
  for (const end of [far, socket]) end.on('error', () => undefined);
  far.pipe(socket).once('close', () => far.destroy());
  socket.pipe(far).once('close', () => socket.destroy());
}

function toCall({ method, url = '/' }: IncomingMessage): string {
  return `${method} ${url.split('?')[0]?.replaceAll(/[0-9A-Z]{20,}/g, '*')}`;
}
