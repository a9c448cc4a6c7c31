import { helloSchema } from '../../shared/agent-protocol/messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { getBearerToken, newAgentHandler } from '../../shared/runtime/http/agent-handler.ts';
import { openSession, toWelcome } from '../../shared/runtime/http/agent-session.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';

/** POST /agent/v1/sessions: opens a session for an agent that proves who it is by a token of its cluster. */
export const handler = newAgentHandler(async function openAgentSession(request, hub) {
  const token = getBearerToken(request);
  const hello = parseWith(helloSchema, request.parseJson(), '');
  const { session, refused } = await openSession(hub, hello, token);
  const accounts = new Set(session?.accounts.map(({ name }) => name));
  const names = [...new Set(hello.accounts.map(({ name }) => name))];
  return ok(await toWelcome(hub, session, { names, accounts, hello, refused }));
});
