import type { OperationRun } from '#tasks/operation.ts';
import type { KubernetesClient } from '../../api/client.ts';
import { formatFullName } from '../../kinds/name.ts';
import { describeChanges } from './describe-changes.ts';
import { DryRunClient } from './dry-run-client.ts';
import { describeObject } from './failure.ts';

/** Changes that a result lists at most; the outputs have them all. */
export const changesListedMax = 200;

const words = {
  create: 'Would create',
  change: 'Would change',
  replace: 'Would delete, and create in another form,',
  delete: 'Would delete',
  keep: 'Would leave as it is',
} as const;

/**
 * Runs an operation whose writes are dry runs: nothing is stored in the cluster or in the cache. Each object that it would write gets a
 * line and an output with the difference.
 *
 * @returns the result of a dry run, as the contract has it
 * @throws what the operation throws, as where it would really fail
 */
export async function rehearse<W extends { readonly client: KubernetesClient; readonly run: OperationRun }>(
  work: W,
  act: (work: W) => Promise<unknown>,
): Promise<object> {
  const { run } = work;
  run.report('Dry run: nothing is changed');
  const client = new DryRunClient(work.client);
  await act({ ...work, client, run: withoutJournal(run) });
  const changes = await describeChanges(client.changes);
  for (const { action, kind, namespace, name, untried, diff } of changes) {
    const what = describeObject({ kind, namespace, name });
    const doubt = untried === undefined ? '' : `; cannot be tried: ${untried}`;
    run.report(`${words[action]} ${what}${doubt}`);
    if (action === 'keep') continue;
    run.output({
      manifest: formatFullName(kind, name),
      phase: 'DRY_RUN',
      stdOut: diff,
      stdError: untried === undefined ? '' : `cannot be tried: ${untried}`,
    });
  }
  const listed = changes.slice(0, changesListedMax).map(({ diff: _, ...change }) => change);
  return { dryRun: { changes: listed, count: changes.length } };
}

/** Nothing is kept of a dry run until it ends: another worker begins again, since the steps of this one left nothing in the cluster. */
function withoutJournal(run: OperationRun): OperationRun {
  return {
    signal: run.signal,
    report: (status, phase) => run.report(status, phase),
    output: (output) => run.output(output),
    addResult: () => undefined,
    listEarlierResults: () => run.listEarlierResults(),
    step: (_, act) => act(),
    decide: (_, choose) => choose(),
    recall: () => undefined,
    async waitUntil(key, look, wait) {
      const found = await look({ isFirst: true, isLate: false });
      return found ?? run.waitUntil(key, look, wait);
    },
  };
}
