import { getBearerToken, newAgentHandler } from '#agents/http/agent-handler.ts';
import { answerHello } from '#agents/http/agent-session.ts';

/** POST /agent/v1/sessions: opens a session for an agent that proves who it is by a token of its cluster, or by the certificate of its connection. */
export const handler = newAgentHandler(async function openAgentSession(request, hub) {
  const { clientCertificate: certificate } = request;
  const isWithoutToken = certificate !== undefined && request.findHeader('authorization') === undefined;
  return answerHello(
    request,
    hub,
    isWithoutToken ? { certificate } : { token: getBearerToken(request), certificate },
  );
});
