import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import { type ApiResponse, ok } from '#http/api-handler.ts';
import type { ApiRequest } from '#http/api-request.ts';
import {
  type LiveReadAnswer,
  type LiveReadState,
  liveReadWaitMs,
  readInlineBytesMax,
  readPartBytesMax,
} from '../live-read.ts';
import type { ReadAnswer, ReadRequest } from '../protocol/messages.ts';
import type { AgentHub } from '../services/agent-hub.ts';
import { type AgentCaller, refuse } from './agent-handler.ts';

/** The read that a request names. An unknown one is refused as one of another account, so as not to reveal it. @throws AccessDeniedError */
export async function getAskedRead(
  request: ApiRequest,
  { reads }: AgentHub,
  { accounts }: AgentCaller,
): Promise<LiveReadState> {
  const id = request.getParameter('read');
  const read = await reads.find(id);
  if (read === undefined || !accounts.has(read.account)) {
    throw new AccessDeniedError(`Read ${id} is of no account of this session`);
  }
  return read;
}

/** Answers what is to be read to an agent that takes it; 409 where another one has it. */
export async function takeRead(
  { reads, clock }: AgentHub,
  { id, account, method, args, acceptedAtMs }: LiveReadState,
): Promise<ApiResponse> {
  const take = await reads.take(id);
  if (take === undefined) return refuseLate({ clock });
  const waitMs = Math.max(0, acceptedAtMs + liveReadWaitMs - clock.now());
  return ok<ReadRequest>({ id, account, method, args, take, waitMs });
}

type AnswerHub = Pick<AgentHub, 'reads' | 'awaited' | 'clock'>;

/** A read, and who answers it. */
export interface AnsweredRead extends LiveReadState {
  /** Default: unknown. */
  readonly agentId?: string;
}

/** Stores a part of an answer, and has the caller look after the last: 204, or 409 when late. @throws InvalidInputError for a large one */
export async function answerRead(
  hub: AnswerHub,
  read: AnsweredRead,
  { take, part, last, data, failure }: ReadAnswer,
): Promise<ApiResponse> {
  const { reads } = hub;
  const { id, takes, answer } = read;
  if (answer !== undefined || take !== takes) return refuseLate(hub);
  if (failure !== undefined) return endRead(hub, read, { take, parts: 0, failure: JSON.stringify(failure) });
  const bytes = Buffer.from(data, 'base64');
  if (bytes.byteLength > readPartBytesMax)
    throw new InvalidInputError(`data: expected ${readPartBytesMax} bytes at most, in base64`);
  // One write instead of two, and one read: most answers are small.
  if (last && part === 0 && bytes.byteLength <= readInlineBytesMax)
    return endRead(hub, read, { take, parts: 0, bytes, failure: undefined });
  await reads.putPart({ id, take, part }, bytes);
  return last ? endRead(hub, read, { take, parts: part + 1, failure: undefined }) : taken;
}

async function endRead(hub: AnswerHub, read: AnsweredRead, answer: LiveReadAnswer): Promise<ApiResponse> {
  const { id, account, waiter, agentId = '', acceptedAtMs } = read;
  if (!(await hub.reads.finish(id, answer))) return refuseLate(hub);
  const durationMs = hub.clock.now() - acceptedAtMs;
  hub.awaited.tell(waiter, { id, account, agentId, isRead: answer.failure === undefined, durationMs });
  return taken;
}

const taken: ApiResponse = { status: 204, body: '' };

function refuseLate({ clock }: Pick<AgentHub, 'clock'>): ApiResponse {
  return refuse('Another agent has the read, or it is answered', clock.now(), { reason: 'held' });
}
