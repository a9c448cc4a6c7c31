import { agentHandler } from '#agents/http/agent-handler.ts';
import { checkKeys, checkUnrevoked, toWelcome } from '#agents/http/agent-session.ts';
import { renewalSchema } from '#agents/protocol/messages.ts';
import { UnauthenticatedError } from '#core/errors.ts';
import { ok } from '#http/api-handler.ts';
import { parseWith } from '#settings/coerce.ts';

/** POST /agent/v1/sessions/{session}: keeps a session open: another token, and what is granted now. */
export const handler = agentHandler(async function renewAgentSession(request, hub, { session, accounts }) {
  const { warnings, load, journalFormat } = parseWith(renewalSchema, request.parseJson(), '');
  if (!(await hub.sessions.touch(session.id, hub.clock.now(), { warnings, load }))) {
    throw new UnauthenticatedError('The session is over: open another one');
  }
  await checkUnrevoked(hub, session);
  await checkKeys(hub, session);
  const names = session.accounts.map(({ name }) => name);
  return ok(await toWelcome(hub, session, { names, accounts, hello: { journalFormat } }));
});
