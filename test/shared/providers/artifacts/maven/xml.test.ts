import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { FailedOperationError } from '#core/errors.ts';
import {
  readXml,
  xmlBytesMax,
  xmlLevelsMax,
  xmlPieceLengthMax,
  xmlTagsMax,
} from '#providers/artifacts/maven/xml.ts';
import { getFailure } from '#test/support/run/failure.ts';

function read(text: string) {
  return readXml(Readable.from([Buffer.from(text)]), 'files.example.com');
}

describe('XML of a host', () => {
  test('is elements, attributes and texts, none of which is a number', async () => {
    const text = '<?xml version="1.0"?><!-- x --><a id="07"><v> 1.10 </v><v><![CDATA[2<3]]></v><e/></a>';
    expect(await read(text)).toEqual({ a: { '@id': '07', v: ['1.10', '2<3'], e: '' } });
  });

  test('has entities as they are written, however they are defined', async () => {
    const doctype = '<!DOCTYPE a [<!ENTITY x "planted">]>';
    expect(await read(`${doctype}<a>&x;&lt;</a>`)).toEqual({ a: '&x;&lt;' });
  });

  test.each([
    ['entities of other places', '<!DOCTYPE a [<!ENTITY planted SYSTEM "file:///etc/passwd">]><a/>'],
    ['levels without end', '<a>'.repeat(xmlLevelsMax + 2)],
    ['tags without end', '<a/>'.repeat(xmlTagsMax + 1)],
    ['more bytes than the limit', ' '.repeat(xmlBytesMax + 1)],
    ['text without end', `<a>${' '.repeat(xmlPieceLengthMax)}</a>`],
    ['names of prototypes', '<a><__proto__><planted/></__proto__></a>'],
    ['an element that begins', '<a planted'],
    ['a comment that does not end', '<!-- planted'],
    ['a list of entities that does not end', `<!DOCTYPE a [${'<!ENTITY x "planted">'.repeat(100_000)}`],
  ])('is refused with %s, and not repeated', async (_, text) => {
    const failure = await getFailure(read(text));
    expect(failure).toBeInstanceOf(FailedOperationError);
    expect(String(failure)).toContain('files.example.com');
    expect(String(failure)).not.toContain('planted');
  });

  test('costs bounded processor time and memory at its limits', async () => {
    const before = process.memoryUsage().rss;
    const used = process.threadCpuUsage();
    const tags = Array.from({ length: xmlTagsMax - 2 }, (_, index) => `<b${index}/>`).join('');
    const pieces = `<b>${'x'.repeat(xmlPieceLengthMax - 4)}</b>`.repeat(xmlBytesMax / xmlPieceLengthMax - 1);
    for (const text of [tags, pieces]) await read(`<a>${text}</a>`);
    expect(process.threadCpuUsage(used).user / 1_000).toBeLessThan(20_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
  });
});
