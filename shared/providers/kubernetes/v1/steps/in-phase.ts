import type { V1Work } from './v1-operation.ts';

/** The work of an operation as part of another one: its lines carry the given phase. */
export function inPhase(work: V1Work, phase: string): V1Work {
  const { run } = work;
  return {
    ...work,
    run: {
      signal: run.signal,
      report: (status, own = phase) => run.report(status, own),
      output: (output) => run.output(output),
      step: (key, act) => run.step(key, act),
      decide: (key, choose) => run.decide(key, choose),
      recall: (key) => run.recall(key),
      waitUntil: (key, look, wait) => run.waitUntil(key, look, { phase, ...wait }),
    },
  };
}
