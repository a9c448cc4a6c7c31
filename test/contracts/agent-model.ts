import { earlyToleranceMs } from '#caching/scheduling/caching-agent-schedule.ts';

/** What a worker does to an agent, or what happens to it. */
export type AgentAction = 'claim' | 'renew' | 'commit' | 'finish' | 'fail' | 'demand' | 'wake' | 'wait';

/** What is to be seen of an agent. */
export interface ModelAgent {
  fence: number;
  /** Wall time until which somebody holds it. */
  leaseUntilMs: number;
  /** Whether the run of the last claim goes on, perhaps by a worker that died. */
  isRunning: boolean;
  lastTurn: number;
  nextRunMs: number;
  attempts: number;
  failures: number;
  state: string | undefined;
}

/** An action as the model sees it. */
export interface AgentStep {
  readonly agent: ModelAgent;
  readonly nowMs: number;
  readonly leaseMs: number;
  /** The turn now, which a claim is for. */
  readonly turn: number;
  /** What the worker got with its last claim. */
  readonly held: { readonly fence: number; readonly turn: number } | undefined;
  /** When the run after this one is to be. */
  readonly nextRunMs: number;
  /** What the worker leaves behind. */
  readonly state: string;
}

/** What each action does to an agent; true when it must succeed. */
export const agentModel: { readonly [action in AgentAction]: (step: AgentStep) => boolean } = {
  claim(step) {
    const { agent, nowMs, turn } = step;
    const isDue = agent.lastTurn < turn && agent.nextRunMs <= nowMs + earlyToleranceMs;
    return isDue && take(step);
  },
  demand: (step) => take(step),
  renew: (step) => isHolder(step) && change(step.agent, { leaseUntilMs: step.nowMs + step.leaseMs }),
  commit: (step) =>
    isHolder(step) && change(step.agent, { leaseUntilMs: step.nowMs + step.leaseMs, state: step.state }),
  finish: (step) => isHolder(step) && end(step, { failures: 0, state: step.state }),
  fail: (step) => isHolder(step) && end(step, { failures: step.agent.failures + 1 }),
  wake: () => true,
  wait: () => true,
};

function take({ agent, nowMs, leaseMs }: AgentStep): boolean {
  if (agent.leaseUntilMs > nowMs) return false;
  return change(agent, {
    fence: agent.fence + 1,
    attempts: agent.attempts + 1,
    leaseUntilMs: nowMs + leaseMs,
    isRunning: true,
  });
}

function end({ agent, held, nextRunMs }: AgentStep, changes: Partial<ModelAgent>): true {
  const lastTurn = held?.turn ?? agent.lastTurn;
  return change(agent, { leaseUntilMs: 0, isRunning: false, attempts: 0, lastTurn, nextRunMs, ...changes });
}

/** Whoever made the last claim may go on, even after its lease ran out, until somebody else makes one. */
function isHolder({ agent, held }: AgentStep): boolean {
  return agent.isRunning && held?.fence === agent.fence;
}

function change(agent: ModelAgent, changes: Partial<ModelAgent>): true {
  Object.assign(agent, changes);
  return true;
}
