import type { Clock, Randomness } from '../clock.ts';
import { getErrorMessage } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { type AgentMessage, type AgentQueue, agentsPerMessage } from './agent-queue.ts';
import { earlyToleranceMs } from './agent-schedule.ts';
import type { Agent, AgentKey } from './agent-store.ts';

/** What sending messages for agents needs. */
export interface AgentSender {
  readonly agentQueue: AgentQueue;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
}

/** An agent that is to run at a time. */
export interface DueAgent extends AgentKey {
  readonly nextRunMs: number;
  /** Whether it needs a worker to itself. */
  readonly isAlone: boolean;
}

/**
 * Milliseconds by which messages are sent ahead of time at most: 10 minutes, as long as back-off lasts. SQS could delay them by 15,
 * but their age is watched. What is due later is left to the scheduler.
 */
export const messageDelayMaxMs = 600_000;

/** Attempts to send a message that may fail, each with all repeats of the SDK. */
const sendsMax = 3;

/** Milliseconds before the second of these times; doubled before the third. */
const sendPauseMs = 250;

/** An agent of which messages are made. Only one whose last run went well shares its worker with others. */
export function toDueAgent(agent: Agent): DueAgent {
  const { account, name, nextRunMs, lastRun, attempts } = agent;
  return { account, name, nextRunMs, isAlone: lastRun?.outcome !== 'SUCCESS' || attempts > 0 };
}

/** Whether a message was sent for the run that an agent has before it. */
export function isMeantFor({ dueMs }: Pick<AgentMessage, 'dueMs'>, { nextRunMs }: Agent): boolean {
  return Math.abs(nextRunMs - dueMs) <= earlyToleranceMs;
}

/**
 * Messages for agents: those due within a second of each other share one, up to 25; those that need a worker to themselves have
 * one each.
 */
export function toMessages(agents: readonly DueAgent[]): AgentMessage[] {
  const sorted = agents.toSorted((one, other) => one.nextRunMs - other.nextRunMs);
  const messages: AgentMessage[] = [];
  let batch: DueAgent[] = [];
  for (const agent of sorted) {
    const isFull = batch.length === agentsPerMessage;
    const isApart = agent.nextRunMs - (batch[0]?.nextRunMs ?? agent.nextRunMs) > earlyToleranceMs;
    if (agent.isAlone) messages.push(toMessage([agent]));
    else if (isFull || isApart) messages.push(toMessage(batch));
    if (!agent.isAlone) batch = isFull || isApart ? [agent] : [...batch, agent];
  }
  return batch.length > 0 ? [...messages, toMessage(batch)] : messages;
}

/**
 * Sends messages so that they come when their agents are due. One that cannot be sent is logged: the scheduler revives its agents.
 *
 * @param options.isEarly so that they come in the second before that instead of the one after.
 */
export async function sendMessages(
  sender: AgentSender,
  messages: readonly AgentMessage[],
  { isEarly = false }: { readonly isEarly?: boolean } = {},
): Promise<void> {
  const nowMs = sender.clock.now();
  const near = messages.filter(({ dueMs }) => dueMs <= nowMs + messageDelayMaxMs);
  await Promise.all(
    near.map((message) => {
      const seconds = message.isDemanded ? 0 : Math.ceil((message.dueMs - nowMs) / 1000);
      return sendMessage(sender, message, Math.max(0, isEarly ? seconds - 1 : seconds));
    }),
  );
}

async function sendMessage(sender: AgentSender, message: AgentMessage, delaySeconds: number): Promise<void> {
  const { agentQueue, clock, randomness, log } = sender;
  for (let sends = 1; sends <= sendsMax; sends += 1) {
    try {
      return await agentQueue.send(message, { delaySeconds });
    } catch (error) {
      const fields = { agents: message.agents, cause: getErrorMessage(error) };
      if (sends === sendsMax) log.error('a message for agents could not be sent', fields);
      else await clock.sleep(sendPauseMs * 2 ** (sends - 1) * (0.5 + randomness.fraction() / 2));
    }
  }
}

/** The latest of its agents' next runs: nobody is early then. */
function toMessage(agents: readonly DueAgent[]): AgentMessage {
  return {
    agents: agents.map(({ account, name }) => ({ account, name })),
    dueMs: Math.max(...agents.map(({ nextRunMs }) => nextRunMs)),
  };
}
