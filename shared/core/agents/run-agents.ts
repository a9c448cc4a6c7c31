import type { CacheStore } from '../cache/cache-store.ts';
import { getErrorMessage } from '../errors.ts';
import type { AgentMessage } from './agent-queue.ts';
import { getClaimableTurn } from './agent-schedule.ts';
import type { Agent, AgentKey, AgentStore, ClaimAnswer, ClaimedAgent } from './agent-store.ts';
import type { CachingAgent } from './caching-agent.ts';
import { type RunReporter, reportRuns } from './report-runs.ts';
import { agentLeaseMs, type EndedAgent, runAgent, stopAgent } from './run-agent.ts';
import { type AgentSender, type DueAgent, isMeantFor, toDueAgent } from './send-agents.ts';
import { sendNextRuns } from './send-next-runs.ts';

/** What running agents needs. */
export interface AgentSystem extends AgentSender, RunReporter {
  readonly agents: AgentStore;
  readonly cache: CacheStore;
  /** Where this worker runs, shown as the part of a lease's owner behind the `@`. */
  readonly host: string;
}

/** How to run the agents of a message. */
export interface RunAgentsOptions {
  /** The agent of that name; undefined when no provider has it any more. */
  findAgent(key: AgentKey): CachingAgent | undefined;
  /** Aborted when the worker's time is over. */
  readonly stop: AbortSignal;
}

/**
 * Runs the agents that a message names, side by side, and sends messages for their next runs. These rules keep messages
 * from multiplying and from dying out (docs/architecture.md, "Message-loop guarantees"):
 *
 * - Whoever ends a run sends the message for the next one; but the end of a demanded run only if it moved the next run.
 * - A message that comes early is sent again. One that is not meant for the run that its agent has before it has a successor:
 *   it is dropped. So is one for an agent that somebody runs, who will send.
 * - The scheduler sends for agents that are overdue, whatever became of their messages.
 *
 * Never rejects because of an agent or the store: what went wrong is logged, and the scheduler revives.
 */
export async function runAgents(
  system: AgentSystem,
  message: AgentMessage,
  options: RunAgentsOptions,
): Promise<void> {
  const ended: EndedAgent[] = [];
  const batch = { system, message, options, ended };
  await sendNextRuns(
    system,
    message.agents.map((key) => tryAgent(batch, key)),
  );
  await reportRuns(system, ended);
}

interface Batch {
  readonly system: AgentSystem;
  readonly message: AgentMessage;
  readonly options: RunAgentsOptions;
  /** Takes what runs came to. */
  readonly ended: EndedAgent[];
}

/** The agent with its next run, when a message is to be sent for that. */
async function tryAgent(batch: Batch, key: AgentKey): Promise<DueAgent | undefined> {
  try {
    const agent = batch.options.findAgent(key);
    if (agent === undefined || (await isFresh(batch, key))) return undefined;
    const answer = await claim(batch.system, agent, batch.message);
    if ('refusal' in answer) return toReturning(batch, answer.agent);
    return await run(batch, agent, answer.claimed);
  } catch (error) {
    batch.system.log.error('an agent could not be run', { ...key, cause: getErrorMessage(error) });
    return undefined;
  }
}

/** Whether somebody else has done what was demanded. */
async function isFresh({ system, message }: Batch, { account }: AgentKey): Promise<boolean> {
  if (!message.isDemanded) return false;
  const { asOfMs = 0 } = (await system.agents.readFreshness([account])).get(account) ?? {};
  return asOfMs >= message.dueMs;
}

function claim(system: AgentSystem, agent: CachingAgent, message: AgentMessage): Promise<ClaimAnswer> {
  return system.agents.claim(agent, {
    owner: `${system.randomness.id()}@${system.host}`,
    turn: getClaimableTurn(agent, system.clock.now()),
    leaseMs: agentLeaseMs,
    demanded: message.isDemanded === true,
  });
}

/** An agent whose message came early: whoever runs it, or ran it since, has sent another one. */
function toReturning({ system, message }: Batch, agent: Agent | undefined): DueAgent | undefined {
  if (agent === undefined || message.isDemanded || agent.removedAtMs !== undefined) return undefined;
  const nowMs = system.clock.now();
  const isHeld = agent.lease !== undefined && agent.lease.untilMs > nowMs;
  const isEarly = agent.nextRunMs > nowMs && isMeantFor(message, agent);
  return isEarly && !isHeld ? toDueAgent(agent) : undefined;
}

async function run(batch: Batch, agent: CachingAgent, claimed: ClaimedAgent): Promise<DueAgent | undefined> {
  const { system, message, options } = batch;
  const isAlone = message.agents.length === 1;
  // A worker died of one of these agents, perhaps of this one: it shall take no others along.
  const isPoisonous = !isAlone && claimed.agent.attempts > 1;
  const ended: EndedAgent | undefined = isPoisonous
    ? await stopAgent(system, claimed)
    : await runAgent(system, agent, { claimed, isAlone, stop: options.stop });
  if (ended === undefined) return undefined;
  batch.ended.push(ended);
  const isSent = message.isDemanded && ended.agent.nextRunMs === claimed.agent.nextRunMs;
  return isSent ? undefined : toDueAgent(ended.agent);
}
