import { newAgentHandler } from '#agents/http/agent-handler.ts';
import { answerHello } from '#agents/http/agent-session.ts';
import { UnauthenticatedError } from '#core/errors.ts';

/** POST /agent/v1/iam-sessions: opens a session for an agent whose request is signed by a role of IAM, as API Gateway has checked. */
export const handler = newAgentHandler(async function openIamAgentSession(request, hub) {
  const { signer } = request;
  if (signer === undefined) {
    throw new UnauthenticatedError(
      'Nobody has checked a signature of IAM here, which only API Gateway does: agents prove themselves by a token or a certificate',
    );
  }
  return answerHello(request, hub, { signer });
});
