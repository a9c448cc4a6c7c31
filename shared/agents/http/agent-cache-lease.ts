import { toCacheOwner } from '#caching/scheduling/cache-owner.ts';
import type {
  CachingAgentLease,
  CachingAgentProgress,
  StoredCachingAgent,
} from '#caching/scheduling/caching-agent-store.ts';
import { reportRuns } from '#caching/scheduling/report-runs.ts';
import { streamLeaseMs } from '#caching/scheduling/streams/stream-worker.ts';
import { getErrorMessage, InvalidInputError } from '#core/errors.ts';
import { type ApiResponse, ok } from '#http/api-response.ts';
import { parseWith } from '#settings/coerce.ts';
import { LeaseLostError } from '#tasks/task.ts';
import {
  type CacheClaim,
  type CacheLease,
  type CacheProgressMessage,
  type ClaimedCache,
  detailsSchema,
  type KeptCacheLease,
} from '../protocol/cache-messages.ts';
import type { AgentCacheHub } from '../services/agent-cache.ts';
import type { CacheRequest } from './agent-cache.ts';
import { refuse } from './agent-handler.ts';

/** Answers who wants to keep an account cached: the lease with what was left there, or 409 where another has it. */
export async function claimCache(
  { hub, caller, account }: CacheRequest,
  { agent: name, askedMs }: CacheClaim,
): Promise<ApiResponse> {
  const { agents, clock, log } = hub;
  let nextRunMs: number | undefined;
  const claimed = await agents.claim(
    { account, name },
    {
      ...{ owner: toCacheOwner(caller.session.agentId), turn: 0, leaseMs: streamLeaseMs, askedMs },
      demanded: true,
      onHeld(untilMs) {
        nextRunMs = untilMs;
      },
    },
  );
  if (claimed === undefined)
    return refuse('Another agent keeps the account cached', clock.now(), { reason: 'held', nextRunMs });
  const state = await claimed.readState().catch((error: unknown) => {
    log.warn('what an agent left is damaged: it begins anew', {
      account,
      agent: name,
      cause: getErrorMessage(error),
    });
    return undefined;
  });
  const { intervalMs, failures, lastRun, progress, asOfMs } = claimed.agent;
  return ok<ClaimedCache>({
    lease: toMessage(claimed.lease),
    agent: {
      ...{ intervalMs, failures },
      items: progress?.items ?? lastRun?.items ?? 0,
      hasRun: lastRun !== undefined,
      ...(asOfMs !== undefined && { asOfMs }),
    },
    ...(state !== undefined && { state }),
  });
}

/** Renews the lease of an agent that has it, stores how far it has come, or ends it; 409 where it is lost. */
export async function keepCache(request: CacheRequest, message: CacheProgressMessage): Promise<ApiResponse> {
  const lease = toLease(request, message);
  try {
    return ok<KeptCacheLease>(await keep(request, lease, message));
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    const text = 'The lease is lost: another agent keeps the account cached';
    return refuse(text, request.hub.clock.now(), { reason: 'lost' });
  }
}

async function keep(
  { hub }: CacheRequest,
  lease: CachingAgentLease,
  { state, progress: told, end }: CacheProgressMessage,
): Promise<KeptCacheLease> {
  const { agents, clock } = hub;
  const progress = told && toProgress(told, clock.now());
  if (end === undefined) {
    if (state === undefined) await agents.renew(lease, progress);
    else await agents.commitState(lease, state, progress);
    return { lease: toMessage(lease) };
  }
  const { nextRunInMs, error, ...ending } = end;
  const agent = await agents.finish(lease, {
    ...{ items: 0, changes: 0, ...progress, ...ending },
    nextRunMs: clock.now() + nextRunInMs,
    ...(error !== undefined && { error }),
    ...(state !== undefined && { state }),
  });
  await report(hub, agent, { lagMs: lease.lagMs, error });
  // Any other agent may take it.
  if (ending.outcome === 'STOPPED')
    await hub.hints?.send({ kind: 'REFRESH', account: lease.account, id: '' });
  return { lease: toMessage(lease), failures: agent.failures };
}

/** Nothing else knows of runs of agents: they are published on the bus as those of workers are. */
async function report(
  { bus, log }: Pick<AgentCacheHub, 'bus' | 'log'>,
  agent: StoredCachingAgent,
  { lagMs, error }: { readonly lagMs: number; readonly error: string | undefined },
): Promise<void> {
  const reporter = { bus, log, recordLags: () => undefined, recordTooLarge: () => undefined };
  await reportRuns(reporter, [{ before: agent, agent, lagMs, error }]);
}

/** Nothing is cached as of a time that is yet to come. */
function toProgress(
  { asOfMs, details, ...told }: NonNullable<CacheProgressMessage['progress']>,
  nowMs: number,
): CachingAgentProgress {
  return {
    ...told,
    ...(asOfMs !== undefined && { asOfMs: Math.min(asOfMs, nowMs) }),
    ...(details !== undefined && { details: parseDetails(details) }),
  };
}

/** @throws InvalidInputError */
function parseDetails(text: string): NonNullable<CachingAgentProgress['details']> {
  const at = 'progress.details';
  try {
    return parseWith(detailsSchema, JSON.parse(text), at);
  } catch (error) {
    throw error instanceof SyntaxError ? new InvalidInputError(`${at}: expected JSON text`) : error;
  }
}

/** Of a lease only its numbers count, which the store holds against its own; how long it holds is the agent's matter. */
function toLease(
  { caller, account }: Pick<CacheRequest, 'caller' | 'account'>,
  { agent: name, lease }: Pick<CacheProgressMessage, 'agent' | 'lease'>,
): CachingAgentLease {
  const { startedMs: startedAtMs, usedMs: usedAtMs, ...others } = lease;
  const place = { account, name, owner: toCacheOwner(caller.session.agentId), leaseMs: streamLeaseMs };
  return { ...others, ...place, startedAtMs, usedAtMs, validUntil: 0 };
}

function toMessage(lease: CachingAgentLease): CacheLease {
  const { fence, turn, startedAtMs, lagMs, usedAtMs, stateWrites, hasChunks } = lease;
  return { fence, turn, startedMs: startedAtMs, lagMs, usedMs: usedAtMs, stateWrites, hasChunks };
}
