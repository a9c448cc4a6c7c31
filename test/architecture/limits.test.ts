import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as requestLimits from '#core/request-limits.ts';
import { memorySettings, nodeOptions } from '#infra/local/memory-settings.ts';
import { frontDoorLimits } from '#infra/server/front-door/http-limits.ts';
import { root } from './source-files.ts';

/** A row of docs/limits.md. */
interface LimitRow {
  readonly limit: string;
  readonly value: number;
  /** `manifestsMax`, or `frontDoorLimits.requestsMax`: an export, or a member of one. */
  readonly constant: string;
  /** Path of the file that exports it. */
  readonly file: string;
}

/** A row ends in `` `constant` in `file` ``; its value is the second cell. */
const rowPattern = /^\| ([^|]+) \| ([\d,]+) \| [^|]*\| `([\w.]+)` in `([\w./-]+)` \|$/gm;

const text = readFileSync(join(root, 'docs', 'limits.md'), 'utf8');

const rows: readonly LimitRow[] = [...text.matchAll(rowPattern)].map(
  ([, limit = '', value = '', constant = '', file = '']) => ({
    limit,
    value: Number(value.replaceAll(',', '')),
    constant,
    file,
  }),
);

it('each row of a limit can be read', () => {
  const tableLines = text.split('\n').filter((line) => /^\| (?!Limit \|)/.test(line));
  expect(rows).toHaveLength(tableLines.length);
});

it.each(rows)('$limit: $value is what $constant is', async ({ value, constant, file }) => {
  const exported: unknown = await import(join(root, file));
  const found = constant
    .split('.')
    .reduce((from, name) => (from as { readonly [name: string]: unknown })[name], exported);
  expect(found).toBe(value);
});

it('no limit of requests and of the front door is missing', () => {
  const named = new Set(rows.map(({ constant }) => constant));
  const constants = [
    ...Object.keys(requestLimits),
    ...Object.keys(frontDoorLimits).map((name) => `frontDoorLimits.${name}`),
  ];
  expect(constants.filter((constant) => !named.has(constant))).toEqual([]);
});

it('npm start gives memory back as the tests expect of it', () => {
  const launcher = readFileSync(join(root, 'infra/local/start.sh'), 'utf8').replaceAll('\\\n', ' ');
  for (const [name, value] of Object.entries(memorySettings)) {
    expect(launcher).toContain(` ${name}=${value} `);
  }
  expect(launcher).toContain(` node ${nodeOptions.join(' ')} `);
});
