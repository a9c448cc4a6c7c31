import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  serveGit,
  writeEqualObjects,
  writeHeavyIndex,
  writeHeavyMetadata,
} from '#test/shared/providers/artifacts/heavy-answers.ts';
import { startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { countJobThreads } from '#test/support/run/main-loop.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const serve = (body: Buffer): RequestListener => {
  return (_, response) => response.end(body);
};

/** Processor time of a process's main thread, milliseconds: Linux counts hundredths of a second. */
async function readMainCpuMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8');
  const [user = 0, kernel = 0] = text.slice(text.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  return (user + kernel) * 10;
}

describe('npm start, while it reads what a host answers,', () => {
  const stack = new AsyncDisposableStack();
  let system: System;

  beforeAll(async () => {
    const open = async (listener: RequestListener) => stack.use(await startOrigin(listener)).url;
    const [charts, maven, git] = [
      await open(serve(writeHeavyIndex())),
      await open(serve(writeHeavyMetadata())),
      await open(serveGit(writeEqualObjects())),
    ];
    references.git = `${git}/a`;
    const toKind = (account: object) => ({ enabled: true, accounts: [{ name: 'heavy', ...account }] });
    const settings = {
      kubernetes: { enabled: false },
      artifacts: {
        urlRestrictions: { allowedIps: ['127.0.0.1'] },
        helm: toKind({ repository: charts }),
        maven: toKind({ repositoryUrl: maven }),
        gitRepo: toKind({}),
      },
    };
    system = stack.use(await startSystem({ settings }));
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  const references = { git: '' };
  const fetchArtifact = (artifact: object) =>
    system.fetch('/artifacts/fetch', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ artifactAccount: 'heavy', ...artifact }),
    });

  test.each([
    [
      'an index of charts',
      () => ({ type: 'helm/chart', name: 'web' }),
      /versions of one chart|processor time/,
    ],
    [
      'metadata of Maven',
      () => ({ type: 'maven/file', reference: 'a:b:[1.0,2.0)' }),
      /<metadata>|processor time/,
    ],
    ['a pack of equal objects', () => ({ type: 'git/repo', reference: references.git }), /./],
  ])('such as %s, answers the neighbours', async (what, toArtifact, says) => {
    let isDone = false;
    let longestMs = 0;
    let threads = 0;
    const watch = async () => {
      while (!isDone) {
        const startedAtMs = performance.now();
        expect((await system.fetch('/health')).status).toBe(200);
        longestMs = Math.max(longestMs, performance.now() - startedAtMs);
        threads = Math.max(threads, await countJobThreads(system.pid));
        await sleep(10);
      }
    };
    const beforeMs = await readMainCpuMs(system.pid);
    const watching = watch();
    const text = await (await fetchArtifact(toArtifact())).text();
    isDone = true;
    await watching;
    const mainCpuMs = (await readMainCpuMs(system.pid)) - beforeMs;
    process.stderr.write(
      `${what}: neighbour's request ${Math.round(longestMs)} ms, main thread ${mainCpuMs} ms\n`,
    );
    expect(text).toMatch(says);
    expect(mainCpuMs).toBeLessThan(2_000);
    expect(threads).toBe(1);
    await expect.poll(() => countJobThreads(system.pid)).toBe(0);
  });
});
