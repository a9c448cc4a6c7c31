import { describe, expect, it } from 'vitest';
import { findRows, findValues, findWrongItems, isItem, isSum, readPage } from './page-costs.ts';

describe('docs/scale.md', () => {
  const rows = findRows(readPage('scale.md'));
  const prices = findValues(findRows(readPage('deploy.md')));

  it('works its costs out', () => {
    const values = new Map([...prices, ...findValues(rows)]);
    expect(rows.filter(isItem).length).toBeGreaterThan(20);
    expect(findWrongItems(rows, values)).toEqual([]);
  });

  it('adds them up, and shows the sums', () => {
    const sums: string[] = [];
    let sum = 0;
    for (const row of rows) {
      if (isItem(row)) sum += Number(row[2]);
      if (!isSum(row)) continue;
      expect(row[2]).toBe(`**${sum.toFixed(2)}**`);
      sums.push(sum.toFixed(2));
      sum = 0;
    }
    expect(sums).toHaveLength(3);
    const shown = rows.find(([name = '']) => name === 'one account-month');
    expect(shown?.slice(1, 4)).toEqual(sums);
  });
});
