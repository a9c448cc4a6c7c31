import { once } from 'node:events';
import path from 'node:path';
import { getErrorMessage } from '#core/errors.ts';
import type { DeployRun } from './deploy-run.ts';
import type { Lane } from './lanes.ts';
import type { Phase, PhaseResult } from './phase.ts';
import { openPhaseOutput, type PhaseOutput } from './phase-output.ts';
import type { TestCounts } from './test-runs.ts';

/** A phase that is over. */
export interface PhaseReport {
  readonly lane: string;
  readonly name: string;
  readonly seconds: number;
  readonly remark: string;
  readonly counts: TestCounts;
}

/** How a lane is run. */
export interface LaneOptions {
  readonly lane: Lane;
  /** Those of its tests that were asked for. */
  readonly tests: readonly Phase[];
  /** Aborts when somebody interrupts: no further phase of tests begins. */
  readonly signal: AbortSignal;
  /** Whether everything is left running until then. */
  readonly keep: boolean;
  /** A phase is over, and has written this. */
  onEnd(report: PhaseReport, text: string): void;
}

const none: TestCounts = { passed: 0, failed: 0, skipped: 0 };

/** Runs the phases of a lane, each when the one before is over, and takes the stacks away whatever happened. */
export class LaneRun {
  readonly #run: DeployRun;
  readonly #options: LaneOptions;
  #hasFailures = false;
  #current: { readonly name: string; readonly startedAtMs: number; readonly output: PhaseOutput } | undefined;

  constructor(run: DeployRun, options: LaneOptions) {
    this.#run = run;
    this.#options = options;
  }

  /** @returns whether every phase was run to its end, however its tests came out */
  async runAll(): Promise<boolean> {
    const isWell = await this.#runLane();
    if (!isWell || this.#hasFailures) console.log(`\n${await this.#run.readLogs()}`);
    return isWell;
  }

  async #runLane(): Promise<boolean> {
    const { lane, tests, keep } = this.#options;
    const isDeployed = await this.#runPhases(lane.deploy);
    if (!isDeployed) return false;
    const isTested = await this.#runPhases(tests);
    if (keep) await this.#keep();
    return (await this.#runPhase(lane.destroy)) && isTested;
  }

  /** What it is at, for a progress report; undefined between two phases. */
  async describe(): Promise<string | undefined> {
    if (this.#current === undefined) return undefined;
    const { name, startedAtMs, output } = this.#current;
    const seconds = Math.round((performance.now() - startedAtMs) / 1000);
    return `${this.#options.lane.name}: ${name} for ${seconds} s: ${await output.readLastLine()}`;
  }

  /** Until one cannot be run to its end, or somebody interrupts. @returns whether all were run */
  async #runPhases(phases: readonly Phase[]): Promise<boolean> {
    for (const phase of phases) {
      if (this.#options.signal.aborted || !(await this.#runPhase(phase))) return false;
    }
    return !this.#options.signal.aborted;
  }

  async #runPhase(phase: Phase): Promise<boolean> {
    const { name } = phase;
    const { lane, onEnd } = this.#options;
    const startedAtMs = performance.now();
    using output = openPhaseOutput(path.join(this.#run.folder, `${name}.txt`));
    this.#current = { name, startedAtMs, output };
    const result = await this.#try(phase, output);
    this.#current = undefined;
    const seconds = (performance.now() - startedAtMs) / 1000;
    const { remark, counts = none } = result ?? { remark: 'failed', counts: { ...none, failed: 1 } };
    this.#hasFailures ||= counts.failed > 0;
    onEnd({ lane: lane.name, name, seconds, remark, counts }, await output.readAll());
    return result !== undefined;
  }

  async #try(phase: Phase, output: PhaseOutput): Promise<PhaseResult | undefined> {
    try {
      return await phase.run(this.#run, output);
    } catch (error) {
      // In the form of vitest, by which .ci/run names what failed.
      output.write(` FAIL  test:deploy > ${this.#options.lane.name} > ${phase.name}`);
      output.write(getErrorMessage(error));
      output.write(` ❯ --only=${phase.name}`);
      return undefined;
    }
  }

  async #keep(): Promise<void> {
    const { lane, signal } = this.#options;
    const { url, endpoint } = this.#run.getDeployment();
    console.log(
      `${lane.name}: Busdriver answers at ${url}, the emulated AWS at ${endpoint}; Ctrl-C destroys both`,
    );
    const waiting = setInterval(() => undefined, 60_000);
    if (!signal.aborted) await once(signal, 'abort');
    clearInterval(waiting);
  }
}
