import { readdirSync, readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';
import { basename } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';

const directory = new URL('../../../../fixtures/kubernetes/', import.meta.url);
const kinds = '../../../../../shared/providers/kubernetes/kinds';
/** The files that hold the rules of states. */
const rules = [
  ...['cron-job.ts', 'daemon-set.ts', 'deployment.ts', 'horizontal-pod-autoscaler.ts', 'job.ts'],
  ...['pod.ts', 'replica-set.ts', 'stateful-set.ts'],
];

// V8 counts the blocks of what is compiled after this, so the rules must not be imported before.
const session = new Session();
session.connect();
send('Profiler.enable');
send('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
const { createKindRegistry } = await import(`${kinds}/index.ts`);
const { readKind } = await import('../../../../../shared/providers/kubernetes/manifest/identity.ts');
afterAll(() => session.disconnect());

test('every branch of the rules is taken by some fixture', () => {
  const registry = createKindRegistry();
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.yaml'))) {
    const manifest = parse(readFileSync(new URL(file, directory), 'utf8'));
    try {
      registry.find(readKind(manifest)).getStatus(manifest);
    } catch {
      // A fixture whose apiVersion cannot be read: that is a branch, too.
    }
  }
  const { result } = send('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
  const covered = result.filter(({ url }) => url.includes('/kinds/') && rules.includes(basename(url)));
  expect(covered.map(({ url }) => basename(url)).sort()).toEqual(rules);
  const missed = covered.flatMap(({ url, functions }) =>
    // Those without a name are what Vitest makes of exports.
    functions
      .filter(({ functionName }) => functionName !== '')
      .flatMap(({ functionName, ranges }) =>
        ranges
          .filter(({ count }) => count === 0)
          .map(
            ({ startOffset, endOffset }) => `${basename(url)} ${functionName}: ${startOffset}-${endOffset}`,
          ),
      ),
  );
  expect(missed).toEqual([]);
});

/** Sends a command to the inspector of this thread, which answers at once. */
function send(method: string, params: object = {}): unknown {
  let answer: unknown;
  session.post(method, params, (error: Error | null, result?: object) => {
    if (error) throw error;
    answer = result;
  });
  return answer;
}
