import { readdirSync, readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';
import { basename } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';

const directory = new URL('../../../../fixtures/kubernetes/', import.meta.url);
const kinds = '../../../../../shared/providers/kubernetes/kinds';

// V8 counts the blocks of what is compiled after this, so the rules must not be imported before.
const session = new Session();
session.connect();
send('Profiler.enable');
send('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
const { builtInKinds, createKindRegistry }: typeof import('#providers/kubernetes/kinds/index.ts') =
  await import(`${kinds}/index.ts`);
const { readKind } = await import('#providers/kubernetes/manifest/identity.ts');
afterAll(() => session.disconnect());

test('every branch of the files that hold a status is taken by some fixture', () => {
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
  const covered = [...new Set(listStatuses().map((name) => getFile(result, name)))];
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

/** Names of the functions that tell the status of a kind which has one of its own. */
function listStatuses(): string[] {
  const names = builtInKinds.map(({ getStatus }) => getStatus.name);
  return names.filter((name) => name !== 'getSettledStatus');
}

/** What was counted of the file that defines the function of a status. */
function getFile(counted: readonly Profiler.ScriptCoverage[], status: string): Profiler.ScriptCoverage {
  const [file, ...others] = counted.filter(
    ({ url, functions }) =>
      url.includes('/kinds/') && functions.some(({ functionName }) => functionName === status),
  );
  if (file === undefined || others.length > 0)
    throw new Error(
      `${status}: expected one file of shared/providers/kubernetes/kinds/ that defines it, found ${others.length + (file ? 1 : 0)}: give each kind's status a function of its own name`,
    );
  return file;
}

/** Sends a command to the inspector of this thread, which answers at once. */
function send(method: string, params: object = {}): unknown {
  let answer: unknown;
  session.post(method, params, (error: Error | null, result?: object) => {
    if (error) throw error;
    answer = result;
  });
  return answer;
}
