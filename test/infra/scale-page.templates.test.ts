import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { readCapacity } from '../../infra/cost/capacity-page.ts';
import { type CostPage, generatePages } from '../../infra/cost/pages.ts';
import { getOwnPrices } from '../../infra/cost/prices.ts';
import { countTemplates } from '../../infra/cost/template-counts.ts';
import { findRows, findValues, isItem, isSum, readAmount, readPage, workOut } from './page-costs.ts';

describe('the pages that say what it costs', () => {
  let pages: readonly CostPage[];

  beforeAll(() => {
    pages = generatePages({ prices: getOwnPrices(), counts: countTemplates(), capacity: readCapacity() });
  }, 120_000);

  it.each(['README.md', 'docs/deploy.md', 'docs/scale.md'])(
    "%s is as 'npm run cost -- --write' writes it",
    (path) => {
      const page = pages.find((each) => each.path === path);
      expect(page?.former).toBe(page?.text);
    },
  );
});

/** What the pages themselves say that names stand for. Quantities have four digits there. */
const scale = findRows(readPage('scale.md'));
const prices = findValues(findRows(readPage('deploy.md')));
const toValues = (column: number) =>
  new Map([...prices, ...findValues(scale), ...findValues(findQuantities(), column)]);

/** The rows of quantities: an amount for each of the three modes, then a meaning. */
function findQuantities(): string[][] {
  return scale.filter(
    (row) => row.length === 5 && [1, 2, 3].every((index) => readAmount(row[index]) !== undefined),
  );
}

/** Rows whose formula amounts to something else than they say, by more than rounding explains. */
function findWrong(
  rows: readonly string[][],
  { column, values }: { readonly column: number; readonly values: ReadonlyMap<string, number> },
): string[][] {
  return rows.filter((row) => {
    const said = readAmount(row[column]) ?? Number.NaN;
    const found = workOut(row[1] ?? '', values);
    return !(Math.abs(found - said) <= 0.006 + said / 1_000);
  });
}

describe('docs/scale.md', () => {
  const agentPart = readPage('scale.md').split('<!-- generated: agents -->')[1]?.split('<!-- end')[0] ?? '';
  const agents = findRows(agentPart);
  const items = scale.filter((row) => isItem(row) && !agents.some((each) => isDeepStrictEqual(each, row)));
  const turns = items.filter((row) => row.length === 4);
  const followed = items.filter((row) => row.length === 3);

  it('works its costs out, from what it shows', () => {
    expect(findQuantities().length).toBeGreaterThan(10);
    expect(turns.length).toBeGreaterThan(12);
    expect(followed.length).toBeGreaterThan(6);
    expect(findWrong(turns, { column: 2, values: toValues(1) })).toEqual([]);
    expect(findWrong(turns, { column: 3, values: toValues(2) })).toEqual([]);
    expect(findWrong(followed, { column: 2, values: toValues(3) })).toEqual([]);
    expect(agents.filter(isItem).length).toBeGreaterThan(6);
    expect(findWrong(agents.filter(isItem), { column: 2, values: toValues(1) })).toEqual([]);
  });

  it('adds them up', () => {
    const sums = scale.filter(isSum).map((row) => row.slice(2).map(readAmount));
    const ofAgents = agents.filter(isItem);
    const add = (rows: readonly string[][], column: number) =>
      Number(rows.reduce((sum, row) => sum + (readAmount(row[column]) ?? 0), 0).toFixed(2));
    expect(sums).toEqual([[add(turns, 2), add(turns, 3)], [add(followed, 2)], [add(ofAgents, 2)]]);
  });

  it('shows installations whose parts make their sums', () => {
    const rows = scale.filter((row) => row.length === 6);
    const sum = rows.findIndex(([what]) => what?.startsWith('**Busdriver by turns, adaptive'));
    const parts = rows.slice(sum - 5, sum);
    for (const column of [1, 2, 3, 4, 5]) {
      const whole = readAmount(rows[sum]?.[column]) ?? 0;
      const added = parts.reduce((dollars, row) => dollars + (readAmount(row[column]) ?? Number.NaN), 0);
      expect(Math.abs(whole - added)).toBeLessThan(3);
    }
  });
});

describe('docs/deploy.md', () => {
  const page = readPage('deploy.md');
  const rows = findRows(page.slice(page.indexOf('### At rest, a month')));
  const [rest, deploys] = [rows.slice(0, findMillion()), rows.slice(findMillion())];

  function findMillion(): number {
    return rows.findLastIndex(([what]) => what === 'What');
  }

  it('works its costs at rest out', () => {
    // Two quantities are those of an installation without accounts.
    const values = new Map([...toValues(1), ['listUnits', 8], ['turnSeconds', 0.2]]);
    const items = rest.filter((row) => isItem(row));
    expect(items.length).toBeGreaterThan(20);
    expect(findWrong(items, { column: 2, values })).toEqual([]);
  });

  it('adds them up as it goes', () => {
    let sum = 0;
    for (const row of rest) {
      if (isItem(row)) sum += readAmount(row[2]) ?? 0;
      else if (isSum(row))
        expect(`${row[0]} ${readAmount(row[2])}`).toBe(`${row[0]} ${Number(sum.toFixed(2))}`);
    }
    expect(sum).toBeGreaterThan(50);
  });

  it('works the cost of a million deploys out', () => {
    const million = [
      ['deploys', 1],
      ['questions', 10],
      ['taskQuestions', 4],
      ['manifestQuestions', 6],
    ] as const;
    const values = new Map([...toValues(1), ...million]);
    const items = deploys.filter((row) => isItem(row) && !row[1]?.includes('trace'));
    expect(items.length).toBeGreaterThan(12);
    expect(findWrong(items, { column: 2, values })).toEqual([]);
  });
});
