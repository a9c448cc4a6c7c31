import { beforeAll, describe, expect, it } from 'vitest';
import { asJsonArray, asJsonObject, isJsonObject, type JsonValue } from '#core/json.ts';
import { compileFilterPattern, type LogLine } from './filter-pattern.ts';
import { findQueryProblems } from './insights-query.ts';
import { fillIn, listCommands, readPages } from './page-commands.ts';
import { type RecordedLines, recordLines } from './recorded-lines.ts';
import { runRecorded } from './recording-shell.ts';

const pages = readPages();
const commands = listCommands(pages);

let recorded: RecordedLines;

beforeAll(async () => {
  recorded = await recordLines();
});

/** The lines of a group. */
function getLines(group: string): readonly LogLine[] {
  if (group.startsWith('/aws/apigateway/')) return recorded.access;
  return group.startsWith('/aws/events/') ? recorded.events : recorded.functions;
}

describe('a filter of a page', () => {
  const filtering = commands.filter(({ text }) => text.includes('--filter-pattern'));

  it('is found wherever there is one', () => {
    expect(filtering.length).toBeGreaterThan(10);
  });

  it.each(filtering)('finds what it is for, and not everything: $place', async ({ text }) => {
    const { calls } = await runRecorded(text, { programs: { jq: 'cat' } });
    const tails = calls.filter((args) => args[1] === 'logs' && args.includes('--filter-pattern'));
    expect(tails.length).toBeGreaterThan(0);
    for (const [, , , group = '', ...rest] of tails) {
      const pattern = rest[rest.indexOf('--filter-pattern') + 1] ?? '';
      const lines = getLines(group);
      const found = lines.filter(compileFilterPattern(pattern));
      expect({ pattern, found: found.length > 0 }).toEqual({ pattern, found: true });
      expect(found.length).toBeLessThan(lines.length);
    }
  });

  it.each([
    ['a number in quotes', 'access', '{ $.status >= 500 }'],
    ['another number in quotes', 'access', '{ $.status = 503 }'],
    ['a line that Lambda writes no more', 'functions', '{ $.message = "*Task timed out*" }'],
    ['a field that is not', 'functions', '{ $.task = "*" }'],
  ] as const)('that is about %s finds nothing', (_, group, pattern) => {
    expect(recorded[group].filter(compileFilterPattern(pattern))).toEqual([]);
  });

  it.each(['$.level = "ERROR"', '{ level = "ERROR" }', '{ $.level > "ERROR" }', '{ $.level == "ERROR" }'])(
    'that CloudWatch would refuse is refused: %s',
    (pattern) => {
      expect(() => compileFilterPattern(pattern)).toThrow();
    },
  );
});

describe('a query of a page', () => {
  const queries = [...pages].flatMap(([path, text]) => {
    const inline = [...text.matchAll(/^(.*?)`((?:filter|stats|fields|display|SOURCE) [^`]+)`/gm)];
    const blocks = [...text.matchAll(/^()```\n((?:filter|stats|fields|SOURCE) .*?)\n```$/gms)];
    return [...inline, ...blocks].map(({ index, 1: before = '', 2: query = '' }) => ({
      place: `${path}:${text.slice(0, index).split('\n').length}`,
      query: fillIn(query.replaceAll(String.raw`\|`, '|')),
      group: before.includes('(access log)')
        ? '/aws/apigateway/'
        : /\bdetail/.test(query)
          ? '/aws/events/'
          : '',
    }));
  });

  it('is found wherever there is one', () => {
    expect(queries.length).toBeGreaterThan(14);
  });

  it.each(queries)('finds what it is for: $place', ({ query, group }) => {
    expect(findQueryProblems(query, getLines(group))).toEqual([]);
  });

  it('that a command sends finds what it is for', async () => {
    const starting = commands.filter(({ text }) => text.includes('--query-string'));
    const runs = await Promise.all(starting.map(({ text }) => runRecorded(text)));
    const sent = runs
      .flatMap(({ calls }) => calls)
      .filter((args) => args.includes('--query-string'))
      .map((args) => args[args.indexOf('--query-string') + 1] ?? '');
    expect(sent.length).toBeGreaterThan(0);
    for (const query of sent) expect(findQueryProblems(query, recorded.functions)).toEqual([]);
  });

  it.each([
    ['filter message = "task begun"', 'finds nothing'],
    ['filter message = "audit" | filter audit.status > 0', 'leaves nothing out'],
    ['filter message = "task started" | stats pct(waited, 50)', 'no line has waited'],
    ['filter message = "task started" | stats max(message)', 'no line has numbers there'],
    ['filter message = "task started" | stats count(*) by acount', 'no line has acount'],
    ['filter message = "audit" | display audit.who', 'no line has audit.who'],
    ['filter level > 400', 'finds nothing'],
  ])('with a fault is found: %s', (query, told) => {
    expect(findQueryProblems(query, recorded.functions)).toContainEqual(expect.stringContaining(told));
  });

  it.each(['filter level == "ERROR"', 'stats median(waitedMs)', 'grep ERROR', 'filter level > "ERROR"'])(
    'that CloudWatch would refuse, or that nobody here can read, is refused: %s',
    (query) => {
      expect(() => findQueryProblems(query, recorded.functions)).toThrow(/cannot read|compares numbers/);
    },
  );
});

describe('a pattern of events in a page', () => {
  const patterns = [...pages].flatMap(([, text]) => [
    ...text.matchAll(/^```json\n(\{"source": .*?)\n```$/gms),
    ...text.matchAll(/`(\{"source": [^`]*)`/g),
  ]);

  it('finds what it is for, and not everything', () => {
    expect(patterns.length).toBeGreaterThan(1);
    for (const [, pattern = ''] of patterns) {
      const found = recorded.events.filter((event) => isFound(event as JsonValue, JSON.parse(pattern)));
      expect({ pattern, found: found.length > 0 && found.length < recorded.events.length }).toEqual({
        pattern,
        found: true,
      });
    }
  });
});

/** Whether an event is what a pattern of EventBridge asks for, as far as our pages use these: lists of values, and `$or`. */
function isFound(value: JsonValue | undefined, pattern: JsonValue): boolean {
  if (!isJsonObject(pattern)) return asJsonArray(pattern).some((each) => each === value);
  return Object.entries(pattern).every(([name, rule]) =>
    name === '$or'
      ? asJsonArray(rule).some((each) => isFound(value, each))
      : isFound(asJsonObject(value)?.[name], rule),
  );
}
