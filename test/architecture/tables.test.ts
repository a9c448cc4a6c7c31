import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { knownDifferences } from '#cli/compare/known-differences.ts';
import type { ApiAnswer } from '#contract/api-route.ts';
import { createApiTable } from '#contract/api-table.ts';
import { type Access, routes } from '#functions/routes.ts';
import { variables } from '#platform/config.ts';
import { deployPriorities } from '#providers/kubernetes/kinds/priority.ts';
import { annotationKeys } from '#providers/kubernetes/manifest/annotations.ts';
import { idleSections, unservedSections } from '#settings/live/known-settings.ts';
import { listKinds, listOperations } from './kubernetes-tables.ts';
import { findVariableText } from './setting-additions.ts';
import { readText, root } from './source-files.ts';

const { routes: described, tags } = createApiTable([]);

/** Inventories, of which no provider of this repository has one: one line says all of it. */
const absent = 'inventories';

/** Tables that come from the code: their heads and rows, by their pages and their names there. */
const pages: { readonly [page: string]: { readonly [name: string]: readonly string[] } } = {
  'docs/accounts.md': {
    unserved: [
      'Section | What it configures',
      ...unservedSections.map(({ path, what }) => `\`${path}\` | ${what}`),
    ],
    idle: [
      'What it is | Sections',
      ...idleSections.map(({ what, names }) => `${what} | ${names.map((name) => `\`${name}\``).join(', ')}`),
    ],
  },
  'docs/architecture.md': {
    environment: [
      'Variable | Meaning',
      ...Object.values(variables).map((name) => `\`${name}\` | ${findVariableText(name)}`),
    ],
  },
  'docs/authorization.md': { access: ['What is asked | Recorded as | Routes', ...listAccess()] },
  'docs/contract.md': {
    routes: ['Method | Path | What it does', ...listRoutes(false)],
    absent: ['Method | Path | Answer', ...listRoutes(true)],
  },
  'docs/kubernetes.md': {
    operations: ['Operation | What it does | Kinds | History phase', ...listOperations()],
    kinds: ['Order | Kind | Also | Scope | Versions | Class | Traffic | References | Status', ...listKinds()],
    priorities: [
      'Name | Order',
      ...Object.entries(deployPriorities).map(([name, order]) => `\`${name}\` | ${order}`),
    ],
  },
  'docs/migrate.md': {
    differences: [
      'Reads with | Member | Why',
      ...knownDifferences.map(({ read, member, reason }) => `\`${read}\` | \`${member}\` | ${reason}`),
    ],
  },
};

describe.each(Object.entries(pages))('%s', (page, tables) => {
  it('has the tables of the code: `npx vitest run test/architecture/tables.test.ts --update` writes them', async () => {
    const text = Object.entries(tables).reduce(putTable, readText(page));
    await expect(text).toMatchFileSnapshot(join(root, page));
  });
});

it('docs/kubernetes.md has every annotation that is read or written', () => {
  const { ignoreCaching: _, ...keys } = annotationKeys;
  const page = readText('docs/kubernetes.md');
  expect(Object.values(keys).filter((key) => !page.includes(`| \`${key}\` |`))).toEqual([]);
});

/** The page with a table in its place: between `<!-- generated: NAME -->` and the next `<!-- end -->`. */
function putTable(text: string, [name, [head = '', ...rows]]: readonly [string, readonly string[]]): string {
  const mark = `<!-- generated: ${name} -->\n`;
  const [before = '', rest = ''] = text.split(mark);
  expect(rest, `what follows ${mark}`).toContain('<!-- end -->');
  const lines = [head, ...rows].map((row) => `| ${row} |`.replaceAll(/ {2,}/g, ' '));
  const table = lines.toSpliced(1, 0, `|${'---|'.repeat(head.split('|').length)}`).join('\n');
  return `${before}${mark}\n${table}\n\n${rest.slice(rest.indexOf('<!-- end -->'))}`;
}

/** A row for each route that only others have, or for each that is here: in the order of the document, by tag. */
function listRoutes(isAbsent: boolean): string[] {
  const order = tags.map(({ name }) => name);
  const served = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  return Object.entries(described)
    .filter(([name, { tag }]) => served.has(name) && (tag === absent) === isAbsent)
    .sort(([, one], [, other]) => order.indexOf(one.tag) - order.indexOf(other.tag))
    .map(([name, { summary, answer }]) => {
      return `${name.replace(' ', ' | `')}\` | ${isAbsent ? showAnswer(answer) : summary}`;
    });
}

/** What a route always answers. */
function showAnswer(answer: ApiAnswer): string {
  if ('bytes' in answer) return answer.description;
  const [example] = Object.values(answer.examples);
  return `\`${JSON.stringify(example?.value)}\``;
}

/** A row for each combination of what is asked and recorded, in the order of the routes. */
function listAccess(): string[] {
  const groups = Map.groupBy(routes, ({ access, audit }) => {
    return `${describeAccess(access)} | ${audit === undefined ? '' : `\`${audit}\``}`;
  });
  return [...groups].map(([key, found]) => {
    return `${key} | ${found.map(({ method, path }) => `\`${method} ${path}\``).join('<br>')}`;
  });
}

function describeAccess(access: Access): string {
  if (access === 'anonymous') return 'nothing';
  if (access === 'identified') return 'that it is known who calls';
  const { account, application, task, filter = [] } = access;
  const parts = [
    account && `${account} of the account`,
    application && `${application} of the application`,
    access.resultApplication && 'READ of the application of what is answered',
    task && `${task} of each account of the task`,
    access.operations &&
      'WRITE of the account and [the applications](#applications-of-operations) of each operation',
    access.manager && 'to be a manager of accounts',
    filter.length > 0 && `shows what may be read: ${filter.join(' and ')}`,
    access.anonymous && 'open to callers without a name',
  ];
  return parts.filter((part) => typeof part === 'string').join('; ');
}
