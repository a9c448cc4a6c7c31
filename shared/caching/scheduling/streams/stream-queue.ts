import { isJsonObject } from '#core/json.ts';
import { parseCachingAgentKey } from '../caching-agent-queue.ts';
import { type CachingAgentKey, isHeld, type StoredCachingAgent } from '../caching-agent-store.ts';

/** Caching agents that a worker watches at most. */
export const cachingAgentsPerStream = 50;

/** A caching agent to be watched. */
export interface StreamedCachingAgent extends CachingAgentKey {
  /** The owner that watches it until now, and waits for a successor. Left out: none does. */
  readonly handedOverBy?: string | undefined;
}

/** A message on the queue of streams: watch these until your time is over. It promises nothing: a claim decides. */
export interface StreamMessage {
  readonly agents: readonly StreamedCachingAgent[];
}

/** The queue of streams. */
export interface StreamQueue {
  send(message: StreamMessage): Promise<void>;
}

/** Sends for as few workers as possible to watch these caching agents. */
export async function sendStreams(
  queue: StreamQueue,
  agents: readonly StreamedCachingAgent[],
): Promise<void> {
  for (let start = 0; start < agents.length; start += cachingAgentsPerStream) {
    const part = agents.slice(start, start + cachingAgentsPerStream);
    await queue.send({ agents: part.map(toStreamedAgent) });
  }
}

/** When streams are started, and whose leases count. */
export interface StartStreamsOptions {
  readonly nowMs: number;
  /** Whether all earlier workers are dead: their leases are taken from them. Default: false. */
  readonly areWorkersDead?: boolean | undefined;
}

/**
 * Sends for workers that watch these caching agents, except those that are watched, and those that failed a moment ago: they are in a
 * pause, which their worker ends. The next run of a healthy one does not matter: it may have been run by turns until now. One that workers
 * have died of gets a worker to itself.
 */
export async function startStreams(
  queue: StreamQueue,
  agents: readonly StoredCachingAgent[],
  { nowMs, areWorkersDead = false }: StartStreamsOptions,
): Promise<void> {
  const { held = [], unheld = [] } = Object.groupBy(agents, (agent) =>
    isHeld(agent, nowMs) ? 'held' : 'unheld',
  );
  const left = areWorkersDead ? held : [];
  const due = unheld.filter(({ failures, nextRunMs }) => failures === 0 || nextRunMs <= nowMs);
  const { alone = [], together = [] } = Object.groupBy(due, ({ attempts }) =>
    attempts > 1 ? 'alone' : 'together',
  );
  for (const agent of alone) await sendStreams(queue, [agent]);
  await sendStreams(queue, [
    ...together,
    ...left.map(({ account, name, lease }) => ({ account, name, handedOverBy: lease?.owner })),
  ]);
}

/** Other properties of a caching agent stay out of messages. */
function toStreamedAgent({ account, name, handedOverBy }: StreamedCachingAgent): StreamedCachingAgent {
  return handedOverBy === undefined ? { account, name } : { account, name, handedOverBy };
}

/** The message in a body; undefined when it is none. */
export function parseStreamMessage(body: unknown): StreamMessage | undefined {
  const agents = isJsonObject(body) ? body['agents'] : undefined;
  if (!Array.isArray(agents) || agents.length === 0) return undefined;
  const parsed = agents.map(parseStreamedAgent).filter((agent) => agent !== undefined);
  return parsed.length < agents.length ? undefined : { agents: parsed };
}

function parseStreamedAgent(value: unknown): StreamedCachingAgent | undefined {
  const key = parseCachingAgentKey(value);
  const handedOverBy = isJsonObject(value) ? value['handedOverBy'] : undefined;
  return key && (typeof handedOverBy === 'string' ? { ...key, handedOverBy } : key);
}
