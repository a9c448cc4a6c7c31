import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  helmFlowTextMax,
  helmFlowYamlMax,
  readChartNames,
  readChartVersions,
} from '#providers/artifacts/helm/helm-index.ts';
import { getFailure } from '#test/support/run/failure.ts';

/** As Helm writes it: keys by name, items of a list as deep as its key. */
const written = `apiVersion: v1
entries:
  alpine:
  - apiVersion: v2
    created: "2026-01-01T00:00:00Z"
    dependencies:
    - name: common
      repository: https://charts.example.com
      version: 9.9.9
    description: |
      Two lines, and one that looks like a key:
      version: 8.8.8

    keywords: [version, urls]
    name: alpine
    urls:
    - https://files.example.com/alpine-1.10.0.tgz
    - charts/alpine-1.10.0.tgz
    version: 1.10
  # a comment
  - name: alpine
    urls: ["alpine-1.9.0.tgz"]
    version: '1.9.0'
  "web":
    - urls:
        - web.tgz
      version: 0.1.0
  none: []
generated: "2026-01-01T00:00:00Z"
`;

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const names = (text: string, size = 7) => readChartNames(inPieces(text, size), 'charts.example.com');
const versions = (text: string, chart: string, size = 7) =>
  readChartVersions(inPieces(text, size), 'charts.example.com', chart);

describe('the index of a repository of charts', () => {
  test.each([1, 7, 100_000])('tells names and versions in its order, in pieces of %d bytes', async (size) => {
    expect(await names(written, size)).toEqual(['alpine', 'web', 'none']);
    expect(await versions(written, 'alpine', size)).toEqual([
      { version: '1.10', urls: ['https://files.example.com/alpine-1.10.0.tgz', 'charts/alpine-1.10.0.tgz'] },
      { version: '1.9.0', urls: ['alpine-1.9.0.tgz'] },
    ]);
    expect(await versions(written, 'web', size)).toEqual([{ version: '0.1.0', urls: ['web.tgz'] }]);
    expect(await versions(written, 'none', size)).toEqual([]);
    expect(await versions(written, 'constructor', size)).toBeUndefined();
  });

  test.each([2, 4])('is read as a whole parser reads it, whatever its indentation: %d', async (indent) => {
    const index = parse(written, { schema: 'failsafe' });
    for (const indentSeq of [true, false]) {
      const text = stringify(index, { indent, indentSeq });
      expect(await names(text)).toEqual(Object.keys(index.entries));
      for (const [name, entries] of Object.entries<{ version: string; urls: string[] }[]>(index.entries)) {
        expect(await versions(text, name)).toEqual(entries.map(({ version, urls }) => ({ version, urls })));
      }
    }
  });

  test('may have Windows line ends, and no charts', async () => {
    expect(await names(written.replaceAll('\n', '\r\n'))).toEqual(['alpine', 'web', 'none']);
    expect(await names('apiVersion: v1\nentries: {}\n')).toEqual([]);
    expect(await versions('entries: {}', 'web')).toBeUndefined();
  });

  const index = parse(written, { schema: 'failsafe' });
  const json = JSON.stringify(index);
  const charts = Object.entries(index.entries).map(([name, list]) => `  ${name}: ${JSON.stringify(list)}\n`);
  const items = Object.entries<object[]>(index.entries).map(([name, list]) => {
    const lines = list.map(
      (item) => `  - ${JSON.stringify(item, undefined, 1).replaceAll('\n', '\n      ')}\n`,
    );
    return `  ${name}:\n${lines.join('')}`;
  });
  test.each([
    ['JSON', json],
    ['JSON of many lines', JSON.stringify(index, undefined, 2)],
    ['flow style', `---\n ${stringify(index, { collectionStyle: 'flow' })}`],
    ['entries in flow style', `apiVersion: v1\nentries: ${JSON.stringify(index.entries)}\ngenerated: now\n`],
    ['entries that begin on the next line', `entries:\n  ${JSON.stringify(index.entries)}\ngenerated: now\n`],
    ['charts in flow style', `entries:\n${charts.join('')}generated: now\n`],
    ['versions in flow style', `entries:\n${items.join('')}`],
  ])('may be %s', async (_, text) => {
    expect(await names(text)).toEqual(Object.keys(index.entries));
    for (const name of Object.keys(index.entries))
      expect(await versions(text, name)).toEqual(await versions(written, name));
  });

  test('keeps versions that look like numbers', async () => {
    const text = '{"entries": {"web": [{"version": 1.10}, {"version": "2.0"}]}}';
    const urls: string[] = [];
    expect(await versions(text, 'web')).toEqual([
      { version: '1.10', urls },
      { version: '2.0', urls },
    ]);
  });

  test.each([
    ['{"kind": "List"}', 'has no entries'],
    ['{"entries": {', 'cannot be read: expected YAML in blocks'],
    ['<html></html>', 'has no entries'],
    ['', 'has no entries'],
    ['entries:\n  no key\n', 'expected the name of a chart'],
  ])('is refused where it is none that is known: %j', async (text, complaint) => {
    await expect(names(text)).rejects.toThrow(complaint);
  });

  test('is refused where a parser of YAML would take long for it', async () => {
    for (const items of ['x'.repeat(helmFlowYamlMax), '{a},'.repeat(20_000)]) {
      const read = names(`entries: {web: [${items}]}`, 2 ** 16);
      await expect(read).rejects.toThrow('16777216 characters of JSON or 262144 of other YAML at most');
    }
  });

  test.each([
    ['a version that is no YAML', 'entries:\n  web:\n  - version: [planted\n'],
    ['an alias without an anchor', 'entries:\n  web:\n  - version: 1\n    urls: [*planted]\n'],
    ['brackets without end', `entries:\n  web:\n  - urls: ${'['.repeat(50_000)}\n`],
    ['URLs without end', `entries:\n  web:\n  - urls: [${'planted,'.repeat(20_000)}]\n`],
  ])('is refused with %s, by its host alone', async (_, text) => {
    const failure = await getFailure(versions(text, 'web', 100_000));
    expect(String(failure)).toContain('The index of charts.example.com has a version of a chart that');
    expect(String(failure)).not.toContain('planted');
  });

  test('is refused where it is larger than any', async () => {
    const line = `  ${'x'.repeat(helmFlowTextMax + 1)}:\n`;
    await expect(names(`entries:\n${line}`, 2 ** 16)).rejects.toThrow('a line of more than');
    const chart = `entries:\n  web:\n  - a: ${'x'.repeat(2 ** 20 - 100)}\n`;
    async function* repeat(): AsyncGenerator<Uint8Array, void, undefined> {
      yield Buffer.from(chart);
      for (;;) yield Buffer.from(`    b: ${'x'.repeat(2 ** 20 - 100)}\n`);
    }
    await expect(readChartVersions(repeat(), 'h', 'web')).rejects.toThrow('characters of one chart');
    await expect(readChartVersions(repeat(), 'h', 'other')).rejects.toThrow('tells more than');
  });

  test('is read no further than the chart that is asked for', async () => {
    let pieces = 0;
    async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
      yield Buffer.from(written.slice(0, written.indexOf('generated')));
      for (;;) {
        pieces += 1;
        yield Buffer.from('  other:\n  - version: 1\n');
      }
    }
    expect(await readChartVersions(endless(), 'h', 'web')).toHaveLength(1);
    expect(pieces).toBeLessThan(3);
  });
});
