import {
  type LeaseReference,
  leasedTaskSchema,
  leaseSchema,
  type TakeLease,
} from '#agents/protocol/messages.ts';
import { fromLeasedTaskMessage, parseOperations, toCommitMessage } from '#agents/protocol/task-messages.ts';
import { type BackOff, retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import {
  type Commit,
  type Lease,
  type LeasedTask,
  LeaseLostError,
  leaseDurationMs,
  leaseMarginMs,
  type WorkerStore,
} from '#tasks/task.ts';
import type { SessionKeeper } from './hub/agent-session.ts';
import { type HubAnswer, HubAwayError, HubRefusalError } from './hub/hub-client.ts';

const backOff: BackOff = { firstMs: 200, mostMs: 2_000 };

/** Dependencies of the store. */
export interface RemoteTaskStoreOptions {
  readonly session: Pick<SessionKeeper, 'call'>;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
}

/**
 * The store of tasks as an agent has it: its calls go to Busdriver, which makes each of them one conditional write. So everything that
 * holds of a worker beside the store holds here: leases, fences, and that a commit is made once though its answer was lost.
 */
export class RemoteTaskStore implements WorkerStore {
  readonly #options: RemoteTaskStoreOptions;

  constructor(options: RemoteTaskStoreOptions) {
    this.#options = options;
  }

  async takeLease(
    id: string,
    { ownerId, attempts }: { readonly ownerId: string; readonly attempts: number },
  ): Promise<LeasedTask | undefined> {
    const { session, clock } = this.#options;
    // Before the call: Busdriver's lease begins later, and so ends later.
    const validUntil = clock.monotonic() + leaseDurationMs;
    const body: TakeLease = { owner: ownerId.split('@')[0] ?? '', attempts };
    const answer = await session
      .call({ method: 'POST', path: toPath(id, 'lease'), body })
      .catch(toRefusedAnswer);
    if (answer.status !== 200) return undefined;
    const message = leasedTaskSchema.parse(answer.body);
    const lease: Lease = { taskId: id, ...message.lease, inlineBytes: 0, validUntil };
    return {
      task: fromLeasedTaskMessage(message, ownerId),
      lease,
      waitsInPlace: message.putsDown !== true,
      readOperations: async () => parseOperations(message),
    };
  }

  async renewLease(lease: Lease, signal?: AbortSignal): Promise<void> {
    const validUntil = this.#options.clock.monotonic() + leaseDurationMs;
    const path = toPath(lease.taskId, 'lease');
    const answer = await this.#options.session
      .call({ method: 'PUT', path, body: toReference(lease), signal })
      .catch(toRefusedAnswer);
    if (answer.status !== 204) throw leaseLost(lease);
    lease.validUntil = Math.max(lease.validUntil, validUntil);
  }

  /** Repeated while the lease holds: Busdriver recognises a commit that it has made. */
  async commit(lease: Lease, commit: Commit): Promise<void> {
    const { session, clock, randomness } = this.#options;
    const validUntil = clock.monotonic() + leaseDurationMs;
    const body = toCommitMessage(toReference(lease), commit);
    const path = toPath(lease.taskId, 'commits');
    const isRetryable = (error: unknown, pauseMs: number): boolean =>
      error instanceof HubAwayError && clock.monotonic() + pauseMs < lease.validUntil - leaseMarginMs / 2;
    const options = { backOff, triesMax: Number.POSITIVE_INFINITY, clock, randomness, isRetryable };
    const answer = await retry(options, () =>
      session.call({ method: 'POST', path, body }).catch(toRefusedAnswer),
    );
    if (answer.status !== 200) throw leaseLost(lease);
    lease.sequence = leaseSchema.parse(answer.body).sequence;
    lease.validUntil = Math.max(lease.validUntil, validUntil);
  }

  /** Busdriver has done that with the last commit. */
  async removeOpen(): Promise<void> {}
}

function toPath(taskId: string, what: 'lease' | 'commits'): string {
  return `/agent/v1/tasks/${encodeURIComponent(taskId)}/${what}`;
}

function toReference({ fence, sequence }: Lease): LeaseReference {
  return { fence, sequence };
}

/** A task that is none of the session's any more is lost like one that another worker has. */
function toRefusedAnswer(error: unknown): HubAnswer {
  if (error instanceof HubRefusalError && error.status === 403) return { status: 403, body: undefined };
  throw error;
}

function leaseLost({ taskId }: Lease): LeaseLostError {
  return new LeaseLostError(`task ${taskId} is held by another worker or was ended from outside`);
}
