import type { DeployRun } from './deploy-run.ts';
import type { PhaseOutput } from './phase-output.ts';
import type { TestCounts } from './test-runs.ts';

/** How a phase ended: in words, and with how its tests came out where it has some. */
export interface PhaseResult {
  readonly remark: string;
  readonly counts?: TestCounts;
}

/** A part of the run, timed and told on its own. */
export interface Phase {
  readonly name: string;
  /** @throws Error when what follows in its lane makes no sense any more */
  run(run: DeployRun, output: PhaseOutput): Promise<PhaseResult>;
}
