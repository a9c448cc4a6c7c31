import { afterEach, describe, expect, test } from 'vitest';
import { FailedOperationError, NotFoundError, OverloadError, VisibleError } from '#core/errors.ts';
import { countJobThreads, watchMainLoop } from '#test/support/run/main-loop.ts';
import { threadLimits } from '#threads/thread-limits.ts';
import { ThreadPool } from '#threads/thread-pool.ts';
import type { SampleQuery } from './sample-job.ts';

const { signal } = new AbortController();

function start(pool: ThreadPool, query: SampleQuery, more: { account?: string; signal?: AbortSignal } = {}) {
  const load = () => import('./sample-job.ts');
  return pool.run({ load, query, account: 'a', what: 'The answer of x', signal, ...more });
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

afterEach(async () => {
  expect(await countJobThreads('self')).toBe(0);
});

describe('a job', () => {
  test('answers from a thread of its own, which has nothing of the environment', async () => {
    expect(await start(new ThreadPool(), { act: 'echo' })).toBe('echo');
    expect(await start(new ThreadPool(), { act: 'list environment' })).toEqual([]);
  });

  test('that does not end is ended when its processor time is over, and holds up nobody', async () => {
    const pool = new ThreadPool({ ...threadLimits, cpuMs: 300 });
    let error: unknown;
    const report = await watchMainLoop(async () => {
      error = await failure(start(pool, { act: 'spin' }));
    });
    expect(error).toBeInstanceOf(FailedOperationError);
    expect(String(error)).toContain('The answer of x takes more than 0.3 s of processor time to read');
    expect(report).toMatchObject({ threadsSeen: 1, threadsLeft: 0 });
  });

  test('that waits takes none of it', async () => {
    const pool = new ThreadPool({ ...threadLimits, cpuMs: 1_000 });
    expect(await start(pool, { act: 'wait', ms: 1_500 })).toBe('wait');
  });

  test('that wants too much memory is ended alone', async () => {
    const pool = new ThreadPool({ ...threadLimits, heapMib: 32 });
    const error = await failure(start(pool, { act: 'fill' }));
    expect(error).toBeInstanceOf(FailedOperationError);
    expect(String(error)).toContain('The answer of x takes more than 32 MiB of memory to read');
  });

  test('is ended when nobody waits for it any more', async () => {
    const leaving = new AbortController();
    const work = start(new ThreadPool(), { act: 'spin' }, { signal: leaving.signal });
    await expect.poll(() => countJobThreads('self')).toBe(1);
    leaving.abort(new Error('the caller has gone'));
    await expect(work).rejects.toThrow('the caller has gone');
    await expect(start(new ThreadPool(), { act: 'echo' }, { signal: leaving.signal })).rejects.toThrow(
      'gone',
    );
  });

  test('throws what a user may see as it is, and no more of a defect than its message', async () => {
    expect(await failure(start(new ThreadPool(), { act: 'miss' }))).toEqual(
      new NotFoundError('it is not there'),
    );
    const defect = await failure(start(new ThreadPool(), { act: 'break' }));
    expect(defect).toMatchObject({
      name: 'TypeError',
      message: 'planted',
      stack: expect.stringContaining('sample-job'),
    });
    expect(defect).not.toBeInstanceOf(VisibleError);
    await expect(start(new ThreadPool(), { act: 'leave' })).rejects.toThrow('ended with code 3');
  });
});

describe('a pool', () => {
  test('does one job of an account at a time, and leaves the others a thread', async () => {
    const pool = new ThreadPool();
    const ended: string[] = [];
    const hanging = new AbortController();
    const first = failure(start(pool, { act: 'spin' }, { signal: hanging.signal }));
    const second = start(pool, { act: 'echo' }).then(() => ended.push('second of a'));
    for (const account of ['b', 'c']) await start(pool, { act: 'echo' }, { account });
    expect(ended).toEqual([]);
    expect(await countJobThreads('self')).toBe(1);
    hanging.abort();
    await Promise.all([first, second]);
    expect(ended).toEqual(['second of a']);
  });

  test('has two threads, however many want one', async () => {
    const pool = new ThreadPool();
    const report = await watchMainLoop(() =>
      Promise.all(['a', 'b', 'c', 'd'].map((account) => start(pool, { act: 'wait', ms: 100 }, { account }))),
    );
    expect(report).toMatchObject({ threadsSeen: 2, threadsLeft: 0 });
  });

  test('lets so many wait, of one account and of all', async () => {
    const hanging = new AbortController();
    const pool = new ThreadPool({ ...threadLimits, threadsMax: 1, waitingMax: 3, waitingOfAccountMax: 1 });
    const hang = (account: string) =>
      failure(start(pool, { act: 'spin' }, { account, signal: hanging.signal }));
    const all = [hang('a'), hang('a')];
    expect(await hang('a')).toBeInstanceOf(OverloadError);
    all.push(hang('b'), hang('c'));
    expect(await hang('d')).toMatchObject({ name: 'OverloadError', retryAfterSeconds: 1 });
    hanging.abort('over');
    expect(await Promise.all(all)).toEqual(['over', 'over', 'over', 'over']);
    expect(await start(pool, { act: 'echo' }, { account: 'd' })).toBe('echo');
  });
});
