import { retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import {
  type CachingAgentMessage,
  type CachingAgentQueue,
  cachingAgentsPerMessage,
  messagesPerSend,
} from './caching-agent-queue.ts';
import { type CachingAgentKey, toCachingAgentId } from './caching-agent-store.ts';

/** What sending messages for caching agents needs. */
export interface CachingAgentSender {
  readonly agentQueue: CachingAgentQueue;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
}

/** A caching agent that is to run at a time. */
export interface DueCachingAgent extends CachingAgentKey {
  readonly dueMs: number;
  /** Whether it needs a worker to itself. */
  readonly isAlone: boolean;
}

/** Attempts to send messages, each with all the SDK's retries. */
const sendsMax = 3;

/** Pauses between attempts, a random half or more of each. */
const backOff = { firstMs: 250, fixedShare: 0.5 };

/** Calls to the queue at a time. */
const concurrency = 8;

/** Messages for caching agents: up to 25 that are due at the same time share one. Those that need a worker to themselves get one each. */
export function toMessages(agents: readonly DueCachingAgent[]): CachingAgentMessage[] {
  const groups = Map.groupBy(agents, ({ dueMs, isAlone, ...key }) =>
    isAlone ? `${dueMs} ${toCachingAgentId(key)}` : `${dueMs}`,
  );
  return [...groups.values()].flatMap((group) => divide(group, cachingAgentsPerMessage).map(toMessage));
}

/**
 * Sends messages so that they arrive when their caching agents are due.
 *
 * @returns whether all were sent. Failures are logged: the scheduler sends for those caching agents when they are overdue.
 */
export async function sendMessages(
  sender: CachingAgentSender,
  messages: readonly CachingAgentMessage[],
): Promise<boolean> {
  let isSent = true;
  await forEachConcurrently(divide(messages, messagesPerSend), concurrency, async (part) => {
    isSent = (await trySend(sender, part)) && isSent;
  });
  return isSent;
}

async function trySend(
  sender: CachingAgentSender,
  messages: readonly CachingAgentMessage[],
): Promise<boolean> {
  const { agentQueue, clock, randomness, log } = sender;
  try {
    const options = { backOff, triesMax: sendsMax, clock, randomness };
    await retry(options, () => agentQueue.send(messages, clock.now()));
    return true;
  } catch (error) {
    const agents = messages.flatMap((message) => message.agents);
    log.error('messages for agents could not be sent', { agents, cause: getErrorMessage(error) });
    return false;
  }
}

function toMessage(agents: readonly DueCachingAgent[]): CachingAgentMessage {
  return { agents: agents.map(({ account, name }) => ({ account, name })), dueMs: agents[0]?.dueMs ?? 0 };
}

function divide<T>(items: readonly T[], most: number): T[][] {
  const starts = items.keys().filter((index) => index % most === 0);
  return [...starts.map((start) => items.slice(start, start + most))];
}
