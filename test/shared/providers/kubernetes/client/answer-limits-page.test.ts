import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as limits from '#providers/kubernetes/api/answer-limits.ts';
import { root } from '#test/architecture/source-files.ts';

const factors: { readonly [unit: string]: number } = { MiB: 2 ** 20, KiB: 2 ** 10, s: 1_000 };

test('docs/kubernetes.md has every limit with its value', () => {
  const page = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8');
  const told = page.split('\n').flatMap((line) => {
    const [, , names = '', values = ''] = line.split('|');
    return names.includes('`') ? listLimits(names, values) : [];
  });
  const { answerJsonBounds, ...numbers } = limits;
  const real = Object.entries(numbers).filter(([, value]) => typeof value === 'number');
  expect(Object.fromEntries(told)).toMatchObject(Object.fromEntries(real));
  expect(page).toContain(
    `| ${answerJsonBounds.depthMax} levels, ${answerJsonBounds.valuesMax.toLocaleString('en')} values |`,
  );
});

function listLimits(names: string, values: string): [string, number][] {
  const amounts = values.split(', ').map(toNumber);
  return [...names.matchAll(/`(\w+)`/g)].map(([, name = ''], index) => [name, amounts[index] ?? Number.NaN]);
}

/** `8 MiB` → 8388608 */
function toNumber(text: string): number {
  const [, digits = '', unit = ''] = /^\s*([\d,]+) ?(\w*)\s*$/.exec(text) ?? [];
  return Number(digits.replaceAll(',', '')) * (factors[unit] ?? 1);
}
