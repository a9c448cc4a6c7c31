import { describe, expect, test } from 'vitest';
import { getLongestPauseMs, getPauseMs, type RetryOptions, retry } from '#core/back-off.ts';

const at = (fraction: number) => ({ fraction: () => fraction });

test('pauses double, up to the longest', () => {
  const pauses = [1, 2, 3, 4, 5].map((tries) => getPauseMs({ firstMs: 100, mostMs: 500 }, tries, at(1)));
  expect(pauses).toEqual([100, 200, 400, 500, 500]);
});

test('chance decides of the whole pause, or of what is not fixed', () => {
  expect(getPauseMs({ firstMs: 100 }, 2, at(0))).toBe(0);
  expect(getPauseMs({ firstMs: 100 }, 2, at(0.5))).toBe(100);
  expect(getPauseMs({ firstMs: 100, fixedShare: 0.5 }, 2, at(0))).toBe(100);
  expect(getPauseMs({ firstMs: 100, fixedShare: 0.5 }, 2, at(0.5))).toBe(150);
});

test('pauses grow by a factor, by their first length, or not at all', () => {
  const grow = (growth: number | 'linear') =>
    [1, 2, 3, 4].map((tries) => getLongestPauseMs({ firstMs: 100, mostMs: 1_000, growth }, tries));
  expect(grow(3)).toEqual([100, 300, 900, 1_000]);
  expect(grow('linear')).toEqual([100, 200, 300, 400]);
  expect(grow(1)).toEqual([100, 100, 100, 100]);
  expect(getLongestPauseMs({ firstMs: 100, mostMs: 500 }, 5_000)).toBe(500);
});

describe('retry', () => {
  /** Tries that fail until the one of this number; its pauses are noted, and take no time. */
  function begin({ goodTry, ...more }: Partial<RetryOptions> & { readonly goodTry: number }) {
    const pauses: number[] = [];
    const clock = {
      async sleep(ms: number, signal?: AbortSignal) {
        pauses.push(ms);
        signal?.throwIfAborted();
      },
    };
    const options = { backOff: { firstMs: 100 }, triesMax: 4, clock, randomness: at(0.5), ...more };
    const tried = retry(options, async (tries) => {
      if (tries < goodTry) throw new Error(`try ${tries}`);
      return tries;
    });
    return { tried, pauses };
  }

  test('answers what comes of the first try that succeeds, after growing pauses', async () => {
    const { tried, pauses } = begin({ goodTry: 3 });
    expect(await tried).toBe(3);
    expect(pauses).toEqual([50, 100]);
  });

  test('throws what the last try threw, and pauses no more after it', async () => {
    const { tried, pauses } = begin({ goodTry: 9 });
    await expect(tried).rejects.toThrow('try 4');
    expect(pauses).toEqual([50, 100, 200]);
  });

  test('ends with what no other try can mend, or could only too late', async () => {
    const final = begin({ goodTry: 9, isRetryable: (error) => String(error) !== 'Error: try 2' });
    await expect(final.tried).rejects.toThrow('try 2');
    const late = begin({ goodTry: 9, isRetryable: (_, pauseMs) => pauseMs < 100 });
    await expect(late.tried).rejects.toThrow('try 2');
    expect([...final.pauses, ...late.pauses]).toEqual([50, 50]);
  });

  test('pauses for nobody who has given up', async () => {
    const { tried, pauses } = begin({ goodTry: 9, signal: AbortSignal.abort(new Error('given up')) });
    await expect(tried).rejects.toThrow('try 1');
    expect(pauses).toEqual([]);
  });

  test('cuts a pause short', async () => {
    const { clock, signal, abort } = holdSleeps();
    const tried = retry(
      { backOff: { firstMs: 100 }, triesMax: 2, clock, randomness: at(0), signal },
      async () => {
        throw new Error('down');
      },
    );
    abort(new Error('given up'));
    await expect(tried).rejects.toThrow('given up');
  });
});

/** A clock on which only an abort ends a sleep. */
function holdSleeps() {
  const aborter = new AbortController();
  const clock: RetryOptions['clock'] = {
    sleep: (_, signal) =>
      new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
      ),
  };
  return {
    clock,
    signal: aborter.signal,
    abort: (reason: Error) => setImmediate(() => aborter.abort(reason)),
  };
}
