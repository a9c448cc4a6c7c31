import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ApiAnswer } from '#contract/api-route.ts';
import { createApiTable } from '#contract/api-table.ts';
import { routes } from '#functions/routes.ts';
import { formatTable, putTable } from './generated-tables.ts';
import { root } from './source-files.ts';

const page = readFileSync(join(root, 'docs/contract.md'), 'utf8');
const table = createApiTable([]);
/** What only other providers or services have: one line tells all of it. */
const absent = 'other providers';

it('docs/contract.md has every route: `npx vitest run test/architecture/contract-page.test.ts --update` writes them', async () => {
  const tables = {
    routes: formatTable(
      ['Method', 'Path', 'What it does'],
      listRows(isThere, ({ summary }) => summary),
    ),
    absent: formatTable(
      ['Method', 'Path', 'Answer'],
      listRows(isAbsent, ({ answer }) => showAnswer(answer)),
    ),
  };
  const written = Object.entries(tables).reduce((text, [name, rows]) => putTable(text, name, rows), page);
  await expect(written).toMatchFileSnapshot(join(root, 'docs/contract.md'));
});

type Described = (typeof table.routes)[string];

function isAbsent({ tag }: Described): boolean {
  return tag === absent;
}

function isThere(route: Described): boolean {
  return !isAbsent(route);
}

/** A row for each route that is wanted, in the order of the document: by tag. */
function listRows(isWanted: (route: Described) => boolean, tell: (route: Described) => string): string[][] {
  const tags = table.tags.map(({ name }) => name);
  const served = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  return Object.entries(table.routes)
    .filter(([name, route]) => served.has(name) && isWanted(route))
    .sort(([, one], [, other]) => tags.indexOf(one.tag) - tags.indexOf(other.tag))
    .map(([name, route]) => {
      const [method = '', path = ''] = name.split(' ');
      return [method, `\`${path}\``, tell(route)];
    });
}

/** What a route always answers. */
function showAnswer(answer: ApiAnswer): string {
  if ('bytes' in answer) return answer.description;
  const [example] = Object.values(answer.examples);
  return `\`${JSON.stringify(example?.value)}\``;
}
