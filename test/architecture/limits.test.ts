import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as requestLimits from '#core/request-limits.ts';
import { memorySettings, nodeOptions } from '#infra/local/memory-settings.ts';
import { frontDoorLimits } from '#infra/server/front-door/http-limits.ts';
import { readSection } from './additions.ts';
import { readText, root } from './source-files.ts';

/** Rows of limits: the value, and the export, or the member of one, that has it: `` `frontDoorLimits.requestsMax` in `file` ``. */
const rows = [readText('docs/limits.md'), readSection('docs/architecture.md', 'Numbers')]
  .flatMap((text) => text.match(/^\| (?!(Limit|Constant) \|).*$/gm) ?? [])
  .map((line) => {
    const [, value = '?'] = /^\|[^|]*\|(?: `[^|]*` \|)? ([\d,]+) \|/.exec(line) ?? [];
    const [, constant = '', file = ''] = /`([\w.]+)`(?: in | \| )`([\w./-]+)`/.exec(line) ?? [];
    const [limit = ''] = line.slice(2).split(' | ');
    return { limit, value: Number(value.replaceAll(',', '')), constant, file };
  });
const named = rows.map(({ constant }) => constant);

it.each(rows)('$limit: $value is what $constant is', async ({ value, constant, file }) => {
  const exported: unknown = await import(join(root, file));
  const found = constant
    .split('.')
    .reduce((from, name) => (from as { readonly [name: string]: unknown })[name], exported);
  expect(found).toBe(value);
});

it('no limit of requests and of the front door is missing', () => {
  const ofFrontDoor = Object.keys(frontDoorLimits).map((name) => `frontDoorLimits.${name}`);
  // The first is of the other page: its rows are found, too.
  const constants = ['leaseDurationMs', ...Object.keys(requestLimits), ...ofFrontDoor];
  expect(constants.filter((constant) => !named.includes(constant))).toEqual([]);
});

it('npm start gives memory back as the tests expect of it', () => {
  const launcher = readText('cli/busdriver').replaceAll('\\\n', ' ');
  for (const [name, value] of Object.entries(memorySettings)) {
    expect(launcher).toContain(` ${name}=${value} `);
  }
  expect(launcher).toContain(` "$node" ${nodeOptions.join(' ')} `);
});
