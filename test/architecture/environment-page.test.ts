import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { variables } from '#platform/config.ts';
import { formatTable, putTable } from './generated-tables.ts';
import { findVariableText } from './setting-additions.ts';
import { root } from './source-files.ts';

it('docs/architecture.md has the docstrings of variables: `npx vitest run test/architecture/environment-page.test.ts --update` writes them', async () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const source = readFileSync(join(root, 'shared/platform/config.ts'), 'utf8');
  const rows = Object.values(variables).map((variable) => [
    `\`${variable}\``,
    findVariableText(variable, source) ?? '',
  ]);
  const written = putTable(page, 'environment', formatTable(['Variable', 'Meaning'], rows));
  await expect(written).toMatchFileSnapshot(join(root, 'docs/architecture.md'));
});
