import { readAnswerSchema } from '../../shared/agent-protocol/messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { agentHandler } from '../../shared/runtime/http/agent-handler.ts';
import { answerRead, getAskedRead } from '../../shared/runtime/http/agent-read.ts';

/** PUT /agent/v1/reads/{read}/answer: a part of what an agent read, or why it could not. */
export const handler = agentHandler(async function answerAgentRead(request, hub, caller) {
  const answer = parseWith(readAnswerSchema, request.parseJson(), '');
  const read = await getAskedRead(request, hub, caller);
  return answerRead(hub, { ...read, agentId: caller.session.agentId }, answer);
});
