import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idleSections, unservedSections } from '#settings/live/known-settings.ts';
import { findUnservedSettings } from '#settings/live/unserved-settings.ts';
import { expandKeys } from '#settings/spring-config.ts';
import { formatTable, putTable } from './generated-tables.ts';
import { getCode, loadSourceFiles, root } from './source-files.ts';

const page = readFileSync(join(root, 'docs/accounts.md'), 'utf8');

describe('docs/accounts.md', () => {
  it('has the tables of the code: `npx vitest run test/architecture/accounts-page.test.ts --update` writes them', async () => {
    const tables = {
      unserved: formatTable(
        ['Section', 'What it configures'],
        unservedSections.map(({ path, what }) => [`\`${path}\``, what]),
      ),
      idle: formatTable(
        ['What it is', 'Sections'],
        idleSections.map(({ what, names }) => [what, names.map((name) => `\`${name}\``).join(', ')]),
      ),
    };
    const written = Object.entries(tables).reduce((text, [name, table]) => putTable(text, name, table), page);
    await expect(written).toMatchFileSnapshot(join(root, 'docs/accounts.md'));
  });
});

describe('a setting that code reads', () => {
  const paths = loadSourceFiles()
    .filter(({ path }) => path.startsWith('shared/'))
    .flatMap((file) => [
      ...getCode(file).matchAll(/(?:[pP]ath = |getSetting\(\w+, )'([a-z]\w*(?:\.[\w-]+)+)'/g),
    ])
    .map(([, path = '']) => path)
    .filter((path) => !path.startsWith('spring.'));

  it('is found where it stands in the code', () => {
    expect(paths).toEqual(expect.arrayContaining(['busdriver.identity', 'credentials.primaryAccountTypes']));
  });

  it('is known: name it in `knownSettings` of its plug-in, or in `ownSettings` of shared/settings/live/known-settings.ts', () => {
    const unknown = paths.filter(
      (path) => findUnservedSettings(expandKeys({ [path]: 'x' }), []).warnings.length > 0,
    );
    expect(unknown).toEqual([]);
  });
});
