import { agentHandler } from '#agents/http/agent-handler.ts';
import { answerRead, getAskedRead } from '#agents/http/agent-read.ts';
import { readAnswerSchema } from '#agents/protocol/messages.ts';
import { parseWith } from '#settings/coerce.ts';

/** PUT /agent/v1/reads/{read}/answer: a part of what an agent read, or why it could not. */
export const handler = agentHandler(async function answerAgentRead(request, hub, caller) {
  const answer = parseWith(readAnswerSchema, request.parseJson(), '');
  const read = await getAskedRead(request, hub, caller);
  return answerRead(hub, { ...read, agentId: caller.session.agentId }, answer);
});
