import type { Hint } from '#agents/agent-connections.ts';
import type { AgentLoad } from '#agents/agent-session.ts';
import { type Work, workSchema } from '#agents/protocol/messages.ts';
import { type BackOff, getPauseMs, getRandomMs } from '#core/back-off.ts';
import { waitAtMost, waits } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { addLogFields, runWithLogFields } from '#platform/services/logger.ts';
import { processTaskMessage, type WorkerSystem } from '#tasks/process-message.ts';
import { CheckpointError } from '#tasks/run-task.ts';
import type { CacheFollowers } from './caching/cache-followers.ts';
import type { GrantedAccounts } from './config/granted-accounts.ts';
import type { SessionKeeper } from './hub/agent-session.ts';
import { getRetryAfterMs, HubAwayError } from './hub/hub-client.ts';
import type { ReturnPlace } from './hub/return-place.ts';
import { ReadRunner } from './read-runner.ts';
import type { AgentMetrics } from './status/agent-metrics.ts';

/** Milliseconds that tasks get to reach a checkpoint when the agent stops: all of it together is to take 20 seconds at most. */
const stopMs = 15_000;

/** Pauses while Busdriver answers that it cannot, the first of them 1 to 5 seconds: a thousand agents must not come back at one moment. */
const backOff: BackOff = { firstMs: 5_000, mostMs: 30_000, growth: 1.6, fixedShare: 0.2 };

/** Pauses while there is no way to it: all that waits for it waits for this try, and an agent's place spreads many. */
const awayBackOff: BackOff = { ...backOff, growth: 1 };

/** Dependencies of the loop. */
export interface WorkLoopOptions {
  readonly session: Pick<
    SessionKeeper,
    'call' | 'forget' | 'getWelcome' | 'renewInTime' | 'renewSoon' | 'welcome'
  >;
  readonly system: WorkerSystem;
  readonly accounts: Pick<GrantedAccounts, 'use'>;
  /** Told when to come back should Busdriver go away. */
  readonly place: Pick<ReturnPlace, 'take' | 'clock'>;
  readonly metrics: Pick<AgentMetrics, 'beginRead' | 'beginTask'>;
  /** Called each time the loop turns. */
  onTurn(): void;
  readonly followers: Pick<CacheFollowers, 'refresh' | 'claim' | 'setConnected'>;
}

/** Asks for work and does it, some tasks and reads at once, until it is stopped. */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #stop = new AbortController();
  /** The account of each task that runs, by the task's id. */
  readonly #running = new Map<string, string>();
  readonly #ends = new Set<Promise<void>>();
  readonly #reads: ReadRunner;
  /** Cuts the present pause short. */
  #wake = new AbortController();
  #isConnected = false;
  /** Whether there was more to do than may run at once. */
  #isMore = false;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
    this.#reads = new ReadRunner({ ...options.system, ...options, stop: this.#stop.signal });
  }

  /** How many tasks and reads run now. */
  get load(): AgentLoad {
    return { tasks: this.#running.size, reads: this.#reads.count };
  }

  /** Runs until the signal is aborted; then tasks stop at their next checkpoint, for another agent to go on. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, randomness } = this.#options.system;
    for (let failures = 0; !signal.aborted; ) {
      this.#options.onTurn();
      const failure = await this.#lookOnce();
      failures = failure === undefined ? 0 : failures + 1;
      if (failure !== undefined) await this.#waitForBusdriver(failure.error, failures, signal);
      else {
        const pauseMs = getRandomMs(this.#getPollMs(), randomness, 0.8);
        await waits(clock, pauseMs, AbortSignal.any([signal, this.#wake.signal]));
      }
    }
    this.#stop.abort(new CheckpointError('the agent stops; another one goes on'));
    await waitAtMost(clock, stopMs, Promise.all(this.#ends));
  }

  /** Asks for work now: hints that came before it was connected do not come again. */
  setConnected(isConnected: boolean): void {
    if (isConnected !== this.#isConnected) this.#lookSoon();
    this.#options.followers.setConnected(isConnected);
    this.#isConnected = isConnected;
  }

  /** Does the work of a hint. One of an account that is not granted leads nowhere. */
  take({ kind, account, id }: Hint): void {
    const { session } = this.#options;
    if (kind === 'CLOSE' && session.welcome?.session === id) session.forget(session.welcome.token);
    if (kind === 'ACCOUNTS') session.renewSoon();
    const isGranted = session.welcome?.accounts.some(
      ({ name, operations }) => name === account && operations,
    );
    if (kind === 'REFRESH' && id === '') this.#options.followers.claim(account);
    else if (isGranted && id !== '' && kind !== 'CLOSE') this.#begin([{ kind, account, id }]);
    else this.#lookSoon();
  }

  #lookSoon(): void {
    this.#wake.abort('there may be work');
  }

  #getPollMs(): number {
    const limits = this.#options.session.welcome?.limits;
    if (this.#isConnected) return limits?.pollConnectedMs ?? 15_000;
    const isBusy = this.#running.size > 0 || this.#reads.isBusy;
    return isBusy ? (limits?.pollBusyMs ?? 500) : (limits?.pollIdleMs ?? 2_000);
  }

  /** While Busdriver is away there is no hurry. */
  async #waitForBusdriver(error: unknown, failures: number, signal: AbortSignal): Promise<void> {
    const { system, place } = this.#options;
    const pauses = error instanceof HubAwayError && error.end !== 'answered' ? awayBackOff : backOff;
    const pauseMs = getPauseMs(pauses, failures, system.randomness);
    await waits(place.clock, Math.max(getRetryAfterMs(error, system.randomness), pauseMs), signal);
  }

  /** @returns undefined where Busdriver answered */
  async #lookOnce(): Promise<{ readonly error: unknown } | undefined> {
    const { session, system, place } = this.#options;
    this.#wake = new AbortController();
    this.#isMore = false;
    try {
      await session.renewInTime();
      const { session: id } = await session.getWelcome();
      const answer = await session.call({ method: 'GET', path: `/agent/v1/sessions/${id}/work` });
      const { work, ...told } = workSchema.parse(answer.body);
      place.take(told);
      this.#begin(work);
      return undefined;
    } catch (error) {
      system.log.warn('Busdriver cannot be asked for work', { reason: getErrorMessage(error) });
      return { error };
    }
  }

  /** Work of a kind that is not known is left to newer agents. */
  #begin(work: Work['work']): void {
    const { tasks = 0, accountTasks = 0 } = this.#options.session.welcome?.limits ?? {};
    for (const { kind, account, id } of work) {
      if (kind === 'READ') this.#reads.begin(id, account);
      if (kind === 'REFRESH') this.#options.followers.refresh(account, Number(id));
      if (kind !== 'TASK' || this.#running.has(id)) continue;
      const ofAccount = [...this.#running.values()].filter((each) => each === account).length;
      if (this.#running.size >= tasks || ofAccount >= accountTasks) {
        this.#isMore = true;
        continue;
      }
      this.#running.set(id, account);
      const end: Promise<void> = this.#runTask(id, account).finally(() => {
        this.#running.delete(id);
        this.#ends.delete(end);
        if (this.#isMore) this.#lookSoon();
      });
      this.#ends.add(end);
    }
  }

  /** Takes a task that it has put down. Should this agent end before, others find it when they ask for work. */
  async #lookAgain(id: string, account: string, seconds: number): Promise<void> {
    if (await waits(this.#options.system.clock, seconds * 1_000, this.#stop.signal))
      this.#begin([{ kind: 'TASK', account, id }]);
  }

  /** Never rejects: a task that could not be run waits for its lease to lapse, and is asked for again. */
  async #runTask(taskId: string, account: string): Promise<void> {
    const { system, accounts, metrics } = this.#options;
    await runWithLogFields({ taskId, account }, async () => {
      // One that another replica holds is none of ours.
      let end: (() => void) | undefined;
      try {
        using use = accounts.use();
        await processTaskMessage(
          system,
          { taskId, receiptHandle: '' },
          {
            isAgent: true,
            stop: this.#stop.signal,
            findOperation: use.findOperation,
            onLeased({ caller }) {
              end = metrics.beginTask();
              addLogFields({ ...caller });
            },
            onPutDown: (seconds) => void this.#lookAgain(taskId, account, seconds),
          },
        );
      } catch (error) {
        if (error instanceof HubAwayError)
          system.log.warn('a task waits for Busdriver', { reason: getErrorMessage(error) });
        else system.log.error('a task could not be run', { error });
      } finally {
        end?.();
      }
    });
  }
}
