import { renewalSchema } from '../../shared/agent-protocol/messages.ts';
import { UnauthenticatedError } from '../../shared/core/errors.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { agentHandler } from '../../shared/runtime/http/agent-handler.ts';
import { checkKeys, checkUnrevoked, toWelcome } from '../../shared/runtime/http/agent-session.ts';
import { ok } from '../../shared/runtime/http/api-handler.ts';

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
