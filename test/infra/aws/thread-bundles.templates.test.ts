import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { type Bundle, getBundle, getBundles } from '#infra/aws/bundling/bundles.ts';
import type { AnswerQuery } from '#oci/answer-job.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const jobThread = 'shared/threads/job-thread.ts';
const answerJob = 'shared/oci/answer-job.ts';

/** Bundles whose functions have threads read what registries answer, by name: functions share them. */
const reading = new Map(
  [...getBundles().values()]
    .filter((bundle) => findFile(bundle, answerJob) !== undefined)
    .map((bundle) => [bundle.name, bundle]),
);

/** The file of a bundle that is made of a module. */
function findFile({ files }: Bundle, module: string): string | undefined {
  return files.find(({ sources }) => Object.hasOwn(sources, module))?.name;
}

describe('the bundles of functions', () => {
  it('have threads where registries are listed', () => {
    expect(reading.keys()).toContain(getBundle('workers/run-caching-agents').name);
  });

  it.each([...reading])('%s: a thread begins with a file of it, and reads an answer', async (_, bundle) => {
    await using folder = await makeTempDir();
    for (const { name, contents } of bundle.files) await writeFile(join(folder.path, name), contents);
    const toUrl = (module: string) => pathToFileURL(join(folder.path, findFile(bundle, module) ?? ''));
    const query: AnswerQuery = {
      body: Buffer.from('{"tags":["1.0.0",null]}'),
      host: 'registry.example.com',
      wanted: { member: 'tags' },
    };
    const worker = new Worker(toUrl(jobThread), {
      workerData: { busdriverJob: { location: toUrl(answerJob).href, query } },
      env: {},
      execArgv: [],
    });
    expect(await once(worker, 'message')).toEqual([{ result: { names: ['1.0.0'], labels: {} } }]);
    await worker.terminate();
  });
});
