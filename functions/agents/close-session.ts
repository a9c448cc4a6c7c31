import { agentHandler } from '#agents/http/agent-handler.ts';
import { closeConnections } from '#agents/http/agent-session.ts';

/** DELETE /agent/v1/sessions/{session}: ends a session; its tokens prove nothing from then on. */
export const handler = agentHandler(async function closeAgentSession(_request, hub, { session }) {
  await hub.sessions.close(session.id);
  await closeConnections(hub, session);
  hub.log.info('an agent closed its session', { agentId: session.agentId, session: session.id });
  return { status: 204, body: '' };
});
