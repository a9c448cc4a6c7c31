import { expect, test } from 'vitest';
import { tellOfUnusedVariables } from '#infra/local/unused-variables.ts';

function tell(environment: { readonly [name: string]: string }) {
  const lines: unknown[] = [];
  tellOfUnusedVariables(environment, { warn: (message, fields) => void lines.push([message, fields]) });
  return lines;
}

test('variables of a database are told to be of no effect, without what they hold', () => {
  const lines = tell({ DB_HOST: 'db.test', DB_PASS: 'planted', DB_USER: '', HOME: '/root' });
  expect(lines).toEqual([
    [
      'environment variables of no effect',
      { variables: ['DB_HOST', 'DB_PASS'], instead: expect.stringContaining('data directory') },
    ],
  ]);
  expect(JSON.stringify(lines)).not.toContain('planted');
});

test('nothing is told where none is set', () => {
  expect(
    tell({
      DB_HOST: '',
      PATH: '/bin',
      KUBERNETES_USE_DISK_CACHE: 'true',
      ARTIFACTS_CREDENTIALS_CONFIG_DIR: '/opt',
    }),
  ).toEqual([]);
});
