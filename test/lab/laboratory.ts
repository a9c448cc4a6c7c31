import { cp } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlantedSecrets } from '#test/acceptance/access/planted-secrets.ts';
import type { TestCluster } from '#test/support/cluster/cluster.ts';
import { createRandom } from '#test/support/run/seeded-random.ts';
import {
  audit,
  auditInjected,
  describeFailure,
  type Finding,
  isExcused,
  listWaits,
  type Posting,
} from './audit.ts';
import {
  type Chain,
  type ChainSort,
  createChain,
  drawChains,
  listChainSorts,
  withRelease,
} from './chains.ts';
import { EngineFaults } from './engine-faults.ts';
import { type LabEnvironment, startLabEnvironment } from './environment.ts';
import { OrcaCaller } from './orca-caller.ts';
import { type LabPlan, planRun } from './plan.ts';

/** Share of the calls of the engines that go wrong, from 0 to 1. */
const engineFaultShare = 0.06;

/** Operations that wait for something, at least. */
const waits = 12;

/** For how long each waits that is played for reference, milliseconds: longer than a worker waits itself. */
const referenceHoldMs = 3_000;

/** How often it is looked, 100 milliseconds apart, whether an operation is under way whose credentials may end. */
const idleLooksMax = 200;

/** Seconds between two lines that tell how far a run is. */
const progressSeconds = 15;

/** Chains of the reference are counted from here: no other has their names. */
const referenceIndex = 90_000;

/** By how much a chain of the reference that is played once more is counted on, and how often it is played at most. */
const referenceStep = 1_000;
const referenceAttempts = 5;

export interface LaboratoryOptions {
  readonly cluster: TestCluster;
  readonly seed: number;
  /** Operations that are posted at least. */
  readonly operations: number;
  readonly kills: number;
  /** How long things go wrong, milliseconds. */
  readonly durationMs: number;
  /** Seconds between two runs of a scheduled function in each process. */
  readonly scheduleSeconds: number;
  /** How long to wait afterwards for what comes about by itself, milliseconds. */
  readonly timeoutMs: number;
  readonly evidenceDir: string;
  say(line: string): void;
}

export interface LaboratoryReport {
  readonly seed: number;
  readonly operations: number;
  /** Milliseconds from the first fault to the end of the audit. */
  readonly ranMs: number;
  /** How often what was injected, by name. */
  readonly injected: ReadonlyMap<string, number>;
  /** How often what was answered, such as `POST 503`. */
  readonly answers: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
}

/**
 * Runs operations while everything around Busdriver fails at once: answers of the engines are lost after they were acted upon, calls
 * are late, throttled and refused, services are silent, processes with clocks that are off are killed and stand still. Then
 * looks at every promise.
 */
export async function runLaboratory(options: LaboratoryOptions): Promise<LaboratoryReport> {
  const { cluster, seed, scheduleSeconds, durationMs, timeoutMs, say } = options;
  const secrets = new PlantedSecrets();
  const sorts = listChainSorts(secrets.plant('secret'));
  const drawn = drawChains(sorts, { ...options, waits, namespace: '' }).map(({ sort }) => sort);
  const plan = planRun({ ...options, chains: drawn.length });
  const faults = new EngineFaults({ seed, share: engineFaultShare, silences: plan.silences });
  say(
    `seed ${seed}: ${options.operations} operations, ${options.kills} kills, ${seconds(durationMs)} of faults`,
  );
  await using environment = await startLabEnvironment({ cluster, seed, scheduleSeconds, faults });
  const over = new AbortController();
  const caller = new OrcaCaller({
    getUrls: () => environment.fleet.urls,
    random: createRandom(seed),
    signal: over.signal,
  });
  const run = new Run({ ...options, plan, faults, environment, caller });
  const reference = await run.playReference([...new Set(drawn)]);
  const beganAtMs = performance.now();
  // What comes before takes as long as it does on a busy machine.
  setTimeout(() => over.abort(), durationMs + timeoutMs).unref();
  const postings = await run.play(drawChains(sorts, { ...options, waits, namespace: environment.namespace }));

  say('looking at every promise');
  const { operations } = run.counts;
  const injected = run.listInjected(postings);
  const audited = await audit({ environment, postings, reference, operations, caller, secrets, timeoutMs });
  const findings = [...audited, auditInjected(injected)];
  if (findings.some(({ violations }) => violations.length > 0)) {
    await cp(environment.logDir, options.evidenceDir, { recursive: true });
    say(`something is wrong: the logs are in ${options.evidenceDir}`);
  }
  const ranMs = performance.now() - beganAtMs;
  return { seed, operations, ranMs, findings, answers: caller.answers, injected };
}

interface RunOptions extends LaboratoryOptions {
  readonly plan: LabPlan;
  readonly faults: EngineFaults;
  readonly environment: LabEnvironment;
  readonly caller: OrcaCaller;
}

class Run {
  readonly #options: RunOptions;
  /** How much there is, and how much of it is done. */
  readonly counts = { operations: 0, accepted: 0, ended: 0, kills: 0, freezes: 0, clockSteps: 0 };

  constructor(options: RunOptions) {
    this.#options = options;
  }

  /** Plays a chain of each of these sorts while nothing goes wrong. */
  async playReference(sorts: readonly ChainSort[]): Promise<Posting[]> {
    const playing = sorts.map((sort, index) => this.#playReferenceChain(sort, referenceIndex + index));
    const postings = (await Promise.all(playing)).flat();
    const failed = postings.filter(({ task }) => task?.status.failed !== false);
    if (failed.length > 0) {
      const reasons = failed.map(
        ({ chain, task }) => `${chain.place.name}: ${task && describeFailure(task)}`,
      );
      throw new Error(`Without faults these do not succeed:\n${reasons.join('\n')}`);
    }
    Object.assign(this.counts, { accepted: 0, ended: 0 });
    return postings;
  }

  /** A machine that is too busy may have the API server not answer: then once more. */
  async #playReferenceChain(sort: ChainSort, index: number, attempt = 1): Promise<Posting[]> {
    const chain = createChain(sort, this.#options.environment.namespace, index);
    await sort.arrange(chain.place);
    const postings = await this.#playChain(chain, referenceHoldMs);
    const isExcusable = postings.some(({ task }) => task !== undefined && isExcused(task));
    if (!isExcusable || attempt === referenceAttempts) return postings;
    return this.#playReferenceChain(sort, index + referenceStep, attempt + 1);
  }

  /** Plays chains while everything goes wrong, and on until all have ended. */
  async play(chains: readonly Chain[]): Promise<Posting[]> {
    const { plan, faults, environment, durationMs, say } = this.#options;
    for (const { sort, place } of chains) await sort.arrange(place);
    this.counts.operations = chains.reduce((total, { operations }) => total + operations.length, 0);
    say(`the faults begin; ${this.counts.operations} operations about ${chains.length} objects are coming`);
    const over = new AbortController();
    const beside = [this.#tellProgress(over.signal), this.#readViews(over.signal)];
    faults.begin();
    environment.setClusterFaults(true);
    const trouble = this.#makeTrouble();
    const playing = chains.map(async (chain, index) => {
      await sleep(plan.beginnings[index]);
      return this.#playChain(chain, plan.holds[index]);
    });
    await Promise.all([trouble, sleep(durationMs)]);
    faults.end();
    environment.setClusterFaults(false);
    say(`the faults are over; ${this.counts.operations - this.counts.ended} operations have not ended yet`);
    const postings = (await Promise.all(playing)).flat();
    over.abort();
    await Promise.all(beside);
    return postings;
  }

  /** How often what was injected, by name. */
  listInjected(postings: readonly Posting[]): ReadonlyMap<string, number> {
    const { faults, environment } = this.#options;
    const { kills, freezes, clockSteps } = this.counts;
    return new Map([
      ...Object.entries({ 'functions: killed': kills, 'functions: frozen': freezes }),
      ['functions: clock set', clockSteps],
      ...listWaits(postings),
      ...[...faults.counts].toSorted(([one], [other]) => one.localeCompare(other)),
      ...Object.entries(environment.clusterFaults).map(
        ([type, count]) => [`API server: ${type}`, count] as const,
      ),
    ]);
  }

  /** Posts the operations of a chain one after the other. What follows one that does not end well is not posted. */
  async #playChain(chain: Chain, holdMs = 0): Promise<Posting[]> {
    return withRelease(chain, holdMs, () => this.#playOperations(chain));
  }

  async #playOperations(chain: Chain): Promise<Posting[]> {
    const indices = [...chain.operations.keys()];
    if (chain.sort.isConcurrent)
      return Promise.all(indices.map((index) => this.#playOperation(chain, index)));
    const postings: Posting[] = [];
    for (const index of indices) {
      const posting = await this.#playOperation(chain, index);
      postings.push(posting);
      if (posting.task?.status.failed !== false) break;
    }
    return postings;
  }

  async #playOperation(chain: Chain, index: number): Promise<Posting> {
    const { caller, environment } = this.#options;
    const operations = chain.operations.slice(index, index + 1);
    const id = await caller.post(operations, `${environment.namespace}-${chain.place.name}-${index}`);
    if (id !== undefined) this.counts.accepted += 1;
    const task = id === undefined ? undefined : await caller.awaitEnd(id);
    if (task !== undefined) this.counts.ended += 1;
    return { chain, index, id, task };
  }

  async #makeTrouble(): Promise<void> {
    const { plan, environment } = this.#options;
    const kills = plan.kills.map(async ({ atMs, process, isAfterWrite }) => {
      await sleep(atMs);
      if (isAfterWrite) await environment.awaitWrite(process);
      this.counts.kills += 1;
      await environment.fleet.kill(process);
    });
    const freezes = plan.freezes.map(async ({ atMs, process, ms }) => {
      await sleep(atMs);
      this.counts.freezes += 1;
      await environment.fleet.freeze(process, ms);
    });
    const clockSteps = plan.clockSteps.map(async (step) => {
      await sleep(step.atMs);
      this.counts.clockSteps += 1;
      await environment.fleet.stepClock(step);
    });
    const lapses = plan.lapses.map(async (lapse) => {
      await sleep(lapse.atMs);
      // In the midst of some operation, where one begins in time.
      const isIdle = () => this.counts.accepted === this.counts.ended;
      for (let left = idleLooksMax; isIdle() && left > 0; left -= 1) await sleep(100);
      await environment.lapse(lapse);
    });
    const fills = plan.fills.map(async (atMs) => {
      await sleep(atMs);
      await environment.addAccount();
    });
    await Promise.all([...kills, ...freezes, ...clockSteps, ...lapses, ...fills]);
  }

  /** Reads what Deck lists, now and then, so that accounts count as used and reads meet the faults, too. */
  async #readViews(signal: AbortSignal): Promise<void> {
    const { caller } = this.#options;
    const paths = [
      '/applications',
      '/applications/chains/serverGroups',
      '/applications/faults/loadBalancers',
    ];
    for (let turn = 0; !signal.aborted; turn += 1) {
      await caller.call('GET', paths[turn % paths.length] ?? '/applications');
      await sleep(1_000, undefined, { signal }).catch(() => undefined);
    }
  }

  async #tellProgress(signal: AbortSignal): Promise<void> {
    const { say, faults } = this.#options;
    const beganAtMs = performance.now();
    while (!signal.aborted) {
      await sleep(progressSeconds * 1_000, undefined, { signal }).catch(() => undefined);
      const { operations, accepted, ended, kills, freezes } = this.counts;
      const injected = [...faults.counts.values()].reduce((total, count) => total + count, 0);
      const done = `${accepted} of ${operations} accepted, ${ended} ended`;
      say(
        `${seconds(performance.now() - beganAtMs)}: ${done}; ${kills} kills, ${freezes} freezes, ${injected} other faults`,
      );
    }
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
