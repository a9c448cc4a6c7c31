import { isJsonObject } from '../../json.ts';
import type { Agent, AgentKey } from '../agent-store.ts';

/** Agents that a worker follows at most. */
export const agentsPerStream = 50;

/** An agent to be followed. */
export interface StreamedAgent extends AgentKey {
  /** Who follows it until now, and waits to be relieved. Left out: nobody does. */
  readonly handedOverBy?: string | undefined;
}

/** A message on the queue of streams: follow these until your time is over. It is a hint: a claim decides. */
export interface StreamMessage {
  readonly agents: readonly StreamedAgent[];
}

/** The queue of streams. */
export interface StreamQueue {
  send(message: StreamMessage): Promise<void>;
}

/** Sends for workers that follow these agents: as few as there can be. */
export async function sendStreams(queue: StreamQueue, agents: readonly StreamedAgent[]): Promise<void> {
  for (let start = 0; start < agents.length; start += agentsPerStream) {
    const part = agents.slice(start, start + agentsPerStream);
    await queue.send({ agents: part.map(toStreamedAgent) });
  }
}

/**
 * Sends for workers that follow these agents, but for those that failed a moment ago: they are in a pause, which their worker ends.
 * When an agent that went well would be run next does not count: it may have been one that is run by turns until now. What workers
 * have died of gets a worker to itself.
 *
 * @param agents that nobody follows.
 */
export async function startStreams(
  queue: StreamQueue,
  agents: readonly Agent[],
  nowMs: number,
): Promise<void> {
  const due = agents.filter(({ failures, nextRunMs }) => failures === 0 || nextRunMs <= nowMs);
  const { alone = [], together = [] } = Object.groupBy(due, ({ attempts }) =>
    attempts > 1 ? 'alone' : 'together',
  );
  for (const agent of alone) await sendStreams(queue, [agent]);
  await sendStreams(queue, together);
}

/** Whatever else is known of an agent stays out of messages. */
function toStreamedAgent({ account, name, handedOverBy }: StreamedAgent): StreamedAgent {
  return handedOverBy === undefined ? { account, name } : { account, name, handedOverBy };
}

/** The message that a body is; undefined when it is none. */
export function parseStreamMessage(body: unknown): StreamMessage | undefined {
  const agents = isJsonObject(body) ? body['agents'] : undefined;
  if (!Array.isArray(agents) || agents.length === 0) return undefined;
  const parsed = agents.map(parseStreamedAgent).filter((agent) => agent !== undefined);
  return parsed.length < agents.length ? undefined : { agents: parsed };
}

function parseStreamedAgent(value: unknown): StreamedAgent | undefined {
  if (!isJsonObject(value)) return undefined;
  const { account, name, handedOverBy } = value;
  if (typeof account !== 'string' || typeof name !== 'string') return undefined;
  return typeof handedOverBy === 'string' ? { account, name, handedOverBy } : { account, name };
}
