import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Access, routes } from '#functions/routes.ts';
import { root } from './source-files.ts';

const page = readFileSync(join(root, 'docs/authorization.md'), 'utf8');
const begin = '<!-- routes -->';
const end = '<!-- /routes -->';

describe('docs/authorization.md', () => {
  it('has what each route asks: `npx vitest run test/architecture/authorization-page.test.ts --update` writes it', async () => {
    const [before = '', rest = ''] = page.split(begin);
    const [, after = ''] = rest.split(end);
    const text = `${before}${begin}\n${formatTable()}\n${end}${after}`;
    await expect(text).toMatchFileSnapshot(join(root, 'docs/authorization.md'));
  });
});

/** A row for each combination of what is asked and recorded, in the order of the routes. */
function formatTable(): string {
  const rows = new Map<string, string[]>();
  for (const { method, path, access, audit } of routes) {
    const key = `${describeAccess(access)} | ${audit === undefined ? '' : `\`${audit}\``}`;
    rows.set(key, [...(rows.get(key) ?? []), `\`${method} ${path}\``]);
  }
  const lines = [...rows].map(([key, found]) => `| ${key} | ${found.join('<br>')} |`);
  return ['| What is asked | Recorded as | Routes |', '|---|---|---|', ...lines].join('\n');
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
    access.operations && 'WRITE of the account of each operation',
    access.manager && 'to be a manager of accounts',
    filter.length > 0 && `shows what may be read: ${filter.join(' and ')}`,
    access.anonymous && 'open to callers without a name',
  ];
  return parts.filter((part) => typeof part === 'string').join('; ');
}
