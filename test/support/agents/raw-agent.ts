import type { TokenSigner } from './agent-process.ts';

/** An answer of Busdriver. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly [name: string]: unknown };
}

/** What an agent says of itself when it begins. */
export interface RawHello {
  readonly agentId: string;
  readonly accounts: readonly string[];
  readonly version?: string;
  readonly journalFormat?: number;
  readonly zone?: string;
}

/** An agent's session whose calls a test makes by hand. */
export interface RawAgent {
  readonly session: string;
  readonly token: string;
  /** What was granted when it began. */
  readonly welcome: RawAnswer['body'];
  call(method: string, target: string, body?: object): Promise<RawAnswer>;
  /** Takes a task. */
  take(task: string): Promise<RawAnswer>;
  /** Commits to a task that it took. */
  commit(task: string, body: object): Promise<RawAnswer>;
}

/** A call of Busdriver. */
interface RawCall {
  readonly method: string;
  readonly target: string;
  readonly token?: string;
  readonly body?: object;
  /** Spinnaker's user. */
  readonly user?: string;
}

/** Calls Busdriver. */
export async function callRaw(
  url: string,
  { method, target, token, body, user }: RawCall,
): Promise<RawAnswer> {
  const answer = await fetch(new URL(target, url), {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(user !== undefined && { 'x-spinnaker-user': user }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
}

/** Opens a session as an agent does. @throws Error where it is refused */
export async function openRawAgent(
  url: string,
  signer: Pick<TokenSigner, 'sign'>,
  { accounts, version = '1.0.0', journalFormat = 1, ...others }: RawHello,
): Promise<RawAgent> {
  const body = {
    ...others,
    version,
    journalFormat,
    protocol: 1,
    accounts: accounts.map((name) => ({ name })),
  };
  const opened = await callRaw(url, {
    ...{ method: 'POST', target: '/agent/v1/sessions', body },
    token: await signer.sign(),
  });
  if (opened.status !== 200) throw new Error(`no session: ${JSON.stringify(opened.body)}`);
  const { session, token } = opened.body as { session: string; token: string };
  const call: RawAgent['call'] = (method, target, given) =>
    callRaw(url, { method, target, token, ...(given && { body: given }) });
  return {
    ...{ session, token, call, welcome: opened.body },
    take: (task) => call('POST', `/agent/v1/tasks/${task}/lease`, { owner: 'raw', attempts: 1 }),
    commit: (task, given) => call('POST', `/agent/v1/tasks/${task}/commits`, given),
  };
}
