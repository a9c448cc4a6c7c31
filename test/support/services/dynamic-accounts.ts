import { expect } from 'vitest';
import { type TokenSigner, toAgentAccount } from '../agents/agent-process.ts';
import { callRaw, openRawAgent, type RawAnswer } from '../agents/raw-agent.ts';

/** Paths of accounts that agents serve, as Armory's plug-in has them. */
export const paths = {
  accounts: '/armory/accounts',
  dynamic: '/armory/accounts/dynamic',
  served: '/agents/kubernetes/accounts',
} as const;

/** A call: method, path, and the body if there is one. */
export type AccountCall = readonly [method: string, target: string, body?: object | undefined];

/** Calls a system, as a user if one is named: the status, and the body; of an error its violations, or its message. */
export function createCaller(
  url: string,
  user?: string,
): (...call: AccountCall) => Promise<readonly unknown[]> {
  return async (method, target, body) => {
    const answer = await callRaw(url, {
      ...{ method, target },
      ...(body && { body }),
      ...(user !== undefined && { user }),
    });
    return [answer.status, toContent(answer)];
  };
}

function toContent({ status, body }: RawAnswer): unknown {
  return status >= 400 && !Array.isArray(body) ? (body['errors'] ?? body['message']) : body;
}

/** The status of an account; the message of an error. */
export async function readStatus(url: string, name: string, user?: string): Promise<unknown> {
  const [, body] = await createCaller(url, user)('GET', `${paths.accounts}/${name}`);
  return typeof body === 'object' && body !== null && 'status' in body ? body.status : body;
}

/** What a definition says of its agents. */
export function toAgent(signer: TokenSigner): { readonly auth: object } {
  return (toAgentAccount('any', signer) as { readonly agent: { readonly auth: object } }).agent;
}

/** Why an agent is not let in; undefined where it is. */
export async function findRefusal(url: string, signer: TokenSigner, name: string): Promise<unknown> {
  const agent = await openRawAgent(url, signer, { agentId: 'probe', accounts: [name] });
  const [grant] = agent.welcome['accounts'] as readonly { readonly refused?: string }[];
  return grant?.refused;
}

/** What became of the agents of an account, the newest first. */
export async function readEvents(url: string, name: string): Promise<readonly unknown[]> {
  const { status, body } = await callRaw(url, { method: 'GET', target: `/credentials/${name}/agents` });
  expect(status).toBe(200);
  return (body['history'] as readonly { readonly event: string }[]).map(({ event }) => event);
}
