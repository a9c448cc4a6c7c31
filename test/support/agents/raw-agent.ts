import type { TokenSigner } from './agent-process.ts';

/** An answer of Busdriver. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly [name: string]: unknown };
}

/** An account as an agent names it: what is known of its cluster, too. */
export interface RawAccount {
  readonly name: string;
  readonly clusterUid?: string | undefined;
  readonly kubeHost?: string;
}

/** What an agent says of itself when it begins. */
export interface RawHello {
  readonly agentId: string;
  readonly accounts: readonly (string | RawAccount)[];
  readonly version?: string;
  readonly journalFormat?: number;
  readonly zone?: string;
}

/** What Busdriver grants an agent of an account. */
export interface RawGrant {
  readonly name: string;
  readonly operations: boolean;
  readonly caching: boolean;
  readonly refused?: string;
}

/** An agent's session whose calls a test makes by hand. */
export interface RawAgent {
  readonly session: string;
  readonly token: string;
  /** What was granted when it began. */
  readonly welcome: RawAnswer['body'];
  call(method: string, target: string, body?: object): Promise<RawAnswer>;
  /** Asks for work, whatever is answered. */
  look(): Promise<RawAnswer>;
  /** The work that there is. @throws Error where the session is none */
  listWork(): Promise<readonly RawWork[]>;
  /** Takes a task. */
  take(task: string): Promise<RawAnswer>;
  /** Commits to a task that it took. */
  commit(task: string, body: object): Promise<RawAnswer>;
  renew(): Promise<RawAnswer>;
  close(): Promise<RawAnswer>;
}

/** Something to do. */
export interface RawWork {
  readonly kind: string;
  readonly account: string;
  readonly id: string;
}

/** A call of Busdriver. */
interface RawCall {
  readonly method: string;
  readonly target: string;
  readonly token?: string | undefined;
  /** Bytes are sent as gzipped ones. */
  readonly body?: object | Uint8Array<ArrayBuffer> | undefined;
  /** Spinnaker's user. */
  readonly user?: string | undefined;
}

/** Calls Busdriver. */
export async function callRaw(
  url: string,
  { method, target, token, body, user }: RawCall,
): Promise<RawAnswer> {
  const isPacked = body instanceof Uint8Array;
  const answer = await fetch(new URL(target, url), {
    method,
    headers: {
      'content-type': isPacked ? 'application/gzip' : 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(user !== undefined && { 'x-spinnaker-user': user }),
    },
    ...(body && { body: isPacked ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
}

/** What an agent says, as it is sent. */
export function toHello({ accounts, version = '1.0.0', journalFormat = 1, ...others }: RawHello): object {
  const named = accounts.map((each) => (typeof each === 'string' ? { name: each } : each));
  return { ...others, version, journalFormat, protocol: 1, accounts: named };
}

/** Asks for a session as an agent does, by a token, or by none. */
export function sayHello(url: string, token: string | undefined, hello: RawHello): Promise<RawAnswer> {
  return callRaw(url, { method: 'POST', target: '/agent/v1/sessions', token, body: toHello(hello) });
}

/** What an answer to a hello, or to a renewal, grants. */
export function getGrants({ body }: Pick<RawAnswer, 'body'>): readonly RawGrant[] {
  return body['accounts'] as readonly RawGrant[];
}

/** The session of an agent that was welcomed. */
export function toRawAgent(url: string, { body: welcome }: Pick<RawAnswer, 'body'>): RawAgent {
  const { session, token } = welcome as { session: string; token: string };
  const target = `/agent/v1/sessions/${session}`;
  const call: RawAgent['call'] = (method, path, body) =>
    callRaw(url, { method, target: path, token, ...(body && { body }) });
  const look = (): Promise<RawAnswer> => call('GET', `${target}/work`);
  return {
    ...{ session, token, call, welcome, look },
    async listWork() {
      const { status, body } = await look();
      if (status !== 200) throw new Error(`no work: ${status} ${JSON.stringify(body)}`);
      return body['work'] as readonly RawWork[];
    },
    take: (task) => call('POST', `/agent/v1/tasks/${task}/lease`, { owner: 'raw', attempts: 1 }),
    commit: (task, body) => call('POST', `/agent/v1/tasks/${task}/commits`, body),
    renew: () => call('POST', target, { journalFormat: 1 }),
    close: () => call('DELETE', target),
  };
}

/** Opens a session as an agent does. @throws Error where it is refused */
export async function openRawAgent(
  url: string,
  signer: Pick<TokenSigner, 'sign'>,
  hello: RawHello,
): Promise<RawAgent> {
  const opened = await sayHello(url, await signer.sign(), hello);
  if (opened.status !== 200) throw new Error(`no session: ${JSON.stringify(opened.body)}`);
  return toRawAgent(url, opened);
}
