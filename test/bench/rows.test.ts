import { describe, expect, it } from 'vitest';
import { createConcurrencyLimit } from '#core/concurrency.ts';
import { measureRows, type Row, type RowResult, takeSamples } from './rows.ts';

function collect() {
  const results: RowResult[] = [];
  return { results, record: async (result: RowResult) => void results.push(result) };
}

/** A row whose samples are what its context has; none breaks it. */
function createRow(name: string, more: Partial<Row<readonly number[]>> = {}): Row<readonly number[]> {
  return {
    ...{ name, unit: 'ms', ...more },
    measure: async (samples) => {
      if (samples.length === 0) throw new Error('it broke');
      return { samples, floors: [1], processorMs: 2 };
    },
  };
}

const own = { server: 'one', isPeer: false, findEnd: async () => undefined };

describe('rows', () => {
  it('are recorded each as soon as it is measured, and one that fails says why and costs no other', async () => {
    const { results, record } = collect();
    const seen: number[] = [];
    const row = (name: string, samples: readonly number[]): Row<undefined> => ({
      ...{ name, unit: 'ms', aim: 4 },
      measure: async () => {
        seen.push(results.length);
        if (samples.length === 0) throw new Error('it broke');
        return { samples, floors: [1], processorMs: 2 };
      },
    });
    const rows = [row('first', [3, 4, 5]), row('second', []), row('third', [7])];
    await measureRows(rows, [{ ...own, context: undefined }], record);
    expect(seen).toEqual([0, 1, 2]);
    expect(results).toMatchObject([
      {
        name: 'first',
        server: 'one',
        aim: 4,
        summary: { median: 4, n: 3 },
        floor: { median: 1 },
        processorMs: 2,
      },
      { name: 'second', server: 'one', aim: 4, problem: 'it broke' },
      { name: 'third', server: 'one', summary: { median: 7 } },
    ]);
    expect(results[1]).not.toHaveProperty('summary');
  });

  it('have aims by what the peer took, where they go by it and it could be measured', async () => {
    const { results, record } = collect();
    const rows = [createRow('first', { aim: 24, peerFactor: 1.5 }), createRow('second', { aim: 8 })];
    const peer = { server: 'peer', isPeer: true };
    await measureRows(
      rows,
      [
        { ...own, context: [30] },
        { ...peer, context: [20.32] },
      ],
      record,
    );
    await measureRows(
      rows.slice(0, 1),
      [
        { ...own, context: [30] },
        { ...peer, context: [] },
      ],
      record,
    );
    expect(results.map(({ name, server, aim }) => [name, server, aim])).toEqual([
      ['first', 'one', 30.5],
      ['first', 'peer', undefined],
      ['second', 'one', 8],
      ['second', 'peer', undefined],
      ['first', 'one', 24],
      ['first', 'peer', undefined],
    ]);
  });

  it('of a server that cannot be had are all recorded, and those of another are measured', async () => {
    const { results, record } = collect();
    const away = { server: 'two', isPeer: false, context: new Error('it is away') };
    await measureRows([createRow('first'), createRow('second')], [away, { ...own, context: [3] }], record);
    expect(
      results.map(({ name, server, problem }) => `${name} of ${server}: ${problem ?? 'measured'}`),
    ).toEqual([
      'first of two: it is away',
      'first of one: measured',
      'second of two: it is away',
      'second of one: measured',
    ]);
  });
});

/** A server that uses 10 ms of processors whenever it is asked for a sample, and 1,000 in its first. */
function createSampling(name: string, calls: string[]) {
  let processorMs = 0;
  return {
    ...{ warmUp: 1, budgetMs: 60_000, alone: createConcurrencyLimit(1) },
    server: { readFigures: async () => ({ memoryMiB: 1, processorMs }) },
    sample: async (index: number) => {
      calls.push(`${name} ${index}`);
      processorMs += index === 0 ? 1_000 : 10;
      return index;
    },
    floor: async (index: number) => {
      calls.push(`floor ${index}`);
      return index / 2;
    },
  };
}

describe('samples', () => {
  it('are those after the warm-up, alternating with their floor, with the processor time of those alone', async () => {
    const calls: string[] = [];
    const measured = await takeSamples({ ...createSampling('sample', calls), samples: 2 });
    expect(measured).toEqual({ samples: [1, 2], floors: [0.5, 1], processorMs: 10 });
    expect(calls).toEqual(['sample 0', 'floor 0', 'sample 1', 'floor 1', 'sample 2', 'floor 2']);
  });

  it('of several servers are taken in turns', async () => {
    const calls: string[] = [];
    const alone = createConcurrencyLimit(1);
    const take = (name: string) => takeSamples({ ...createSampling(name, calls), alone, samples: 15 });
    const measured = await Promise.all([take('one'), take('two')]);
    expect(measured.map(({ samples }) => samples.length)).toEqual([15, 15]);
    const names = calls.filter((call) => !call.startsWith('floor')).map((call) => call.split(' ')[0]);
    expect(names.filter((name, index) => name !== names[index - 1])).toEqual(
      Array.from({ length: 3 }, () => ['one', 'two']).flat(),
    );
  });
});
