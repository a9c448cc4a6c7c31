import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const page = path.join(import.meta.dirname, 'armory-documents.md');

/** Rows of the table: what is said, and the file and the title of the test that holds it. */
const rows = readFileSync(page, 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, said, file, title] =
      /^\| (.+) \| `([\w./-]+\.test\.ts)`: (.+?)(?: \(beside .+\))? \|$/.exec(line) ?? [];
    return said && file && title ? [{ said, file, title }] : [];
  });

function readTest(file: string): string {
  return readFileSync(path.join(import.meta.dirname, file), 'utf8');
}

describe('the table of what documents say of communication in Kubernetes', () => {
  test('has a row for each of their statements', () => {
    expect(rows).toHaveLength(18);
  });

  test.each(rows)('names a test that there is: $said', ({ file, title }) => {
    expect(readTest(file)).toContain(`'${title}'`);
  });

  test('has each test that was written for a statement alone', () => {
    const titles = [
      ...readTest('communication.cluster.test.ts').matchAll(/^ {2,4}'?.*?'((?:it|ready) .+)',/gm),
    ];
    expect(titles).toHaveLength(4);
    for (const [, title] of titles) expect(rows.map((row) => row.title)).toContain(title);
  });
});
