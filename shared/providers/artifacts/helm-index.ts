import { parse } from 'yaml';
import { FailedOperationError } from '../../core/errors.ts';
import { asJsonObject, asString, isJsonObject } from '../../core/json.ts';
import { type LineLimits, readLines } from './text-lines.ts';

/** Largest index of a repository of charts, in bytes. Those of thousands of charts have 20 MB. */
export const helmIndexBytesMax = 64 * 2 ** 20;

/** Most text about one chart, in characters: its versions with all that the index says of them. */
export const helmChartTextMax = 16 * 2 ** 20;

/** Most charts of a repository that are listed. */
export const helmChartsMax = 50_000;

/** Most versions of one chart. */
export const helmVersionsMax = 50_000;

const lineLengthMax = 2 ** 20;
/** Version and URLs of one version of a chart, in characters. */
const memberTextMax = 64 * 1024;

/** A version of a chart. */
export interface ChartVersion {
  readonly version: string;
  /** Where its archive is: absolute, or relative to the repository. In order of preference. */
  readonly urls: readonly string[];
}

/**
 * The names of the charts in an index, in its order.
 *
 * The index is read as Helm and all that serve charts write it: a block of YAML for each chart. What the blocks hold is not looked at.
 *
 * @throws FailedOperationError when it is larger than a limit or no such index.
 */
export async function readChartNames(
  body: AsyncIterable<Uint8Array>,
  host: string,
): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of readEntryLines(body, host)) {
    if (name === undefined) continue;
    if (names.length === helmChartsMax) {
      throw new FailedOperationError(`The index of ${host} has more than ${helmChartsMax} charts`);
    }
    names.push(name);
  }
  return names;
}

/**
 * The versions of a chart in an index, in its order; undefined when the index has no such chart. Reads no further than the chart, and
 * holds its text alone.
 *
 * @throws FailedOperationError as `readChartNames`, and when the chart's own text is larger than a limit or cannot be read.
 */
export async function readChartVersions(
  body: AsyncIterable<Uint8Array>,
  host: string,
  chart: string,
): Promise<readonly ChartVersion[] | undefined> {
  let lines: string[] | undefined;
  let length = 0;
  for await (const { name, line } of readEntryLines(body, host)) {
    if (name !== undefined && lines !== undefined) break;
    if (name === chart) lines = [];
    else if (lines !== undefined) {
      length += line.length;
      if (length > helmChartTextMax) {
        throw new FailedOperationError(
          `The index of ${host} has more than ${helmChartTextMax} characters of one chart`,
        );
      }
      lines.push(line);
    }
  }
  const items = lines && splitItems(lines);
  if (items !== undefined && items.length > helmVersionsMax) {
    throw new FailedOperationError(
      `The index of ${host} has more than ${helmVersionsMax} versions of one chart`,
    );
  }
  return items?.flatMap((item) => parseVersion(item, host));
}

/** A line within `entries`: with the name where a chart begins. */
interface EntryLine {
  readonly name: string | undefined;
  readonly line: string;
}

async function* readEntryLines(body: AsyncIterable<Uint8Array>, host: string) {
  const limits: LineLimits = { host, bytesMax: helmIndexBytesMax, lineLengthMax };
  let isWithin = false;
  let indent: number | undefined;
  for await (const line of readLines(body, limits)) {
    if (isBlank(line)) continue;
    const depth = getIndent(line);
    if (!isWithin) {
      isWithin = isEntriesKey(line, host);
      continue;
    }
    if (depth === 0) return;
    indent ??= depth;
    const isName = depth === indent && !line.startsWith('-', depth);
    const entry: EntryLine = { name: isName ? readKey(line.slice(depth), host) : undefined, line };
    yield entry;
  }
  if (!isWithin)
    throw new FailedOperationError(`The index of ${host} has no entries: it is no index of Helm`);
}

function isBlank(line: string): boolean {
  const text = line.trimStart();
  return text === '' || text.startsWith('#');
}

/** Whether the entries begin behind this line. */
function isEntriesKey(line: string, host: string): boolean {
  const [, value] = /^(?:entries|"entries"|'entries')[ \t]*:(.*)$/.exec(line) ?? [];
  if (value === undefined) {
    if (!line.startsWith('{')) return false;
  } else if (isBlank(value) || value.trim() === '{}') return true;
  throw new FailedOperationError(`The index of ${host} is not written in blocks, as Helm writes it`);
}

/** The key that a line of a block begins with. */
function readKey(text: string, host: string): string {
  const end = findKeyEnd(text);
  const key = text.slice(0, end).trim();
  if (key.startsWith("'") && key.endsWith("'")) return key.slice(1, -1).replaceAll("''", "'");
  if (key.startsWith('"') && key.endsWith('"')) return key.slice(1, -1);
  if (end > 0) return key;
  throw new FailedOperationError(`The index of ${host} is not written in blocks, as Helm writes it`);
}

function findKeyEnd(text: string): number {
  const end = text.indexOf(': ');
  return end === -1 && text.trimEnd().endsWith(':') ? text.trimEnd().length - 1 : end;
}

/** Cuts the lines of a list into those of its items; the dash of each becomes a blank. */
function splitItems(lines: readonly string[]): readonly (readonly string[])[] {
  const items: string[][] = [];
  const [first = ''] = lines;
  const indent = getIndent(first);
  for (const line of lines) {
    if (getIndent(line) === indent && line.startsWith('-', indent)) {
      items.push([`${line.slice(0, indent)} ${line.slice(indent + 1)}`]);
    } else items.at(-1)?.push(line);
  }
  return items.map((item) => item.filter((line) => !isBlank(line)));
}

/** Of a version's members only the two that are asked for are parsed: an index has a thousand lines for each of theirs. */
function parseVersion(lines: readonly string[], host: string): readonly ChartVersion[] {
  const indent = getIndent(lines[0] ?? '');
  const kept: string[] = [];
  let isKept = false;
  for (const line of lines) {
    const isKey = getIndent(line) === indent && !line.startsWith('-', indent);
    if (isKey) isKept = /^["']?(?:version|urls)["']?[ \t]*:/.test(line.slice(indent, indent + 16));
    if (isKept) kept.push(line);
  }
  const { version, urls } = parseMembers(kept.join('\n'), host);
  if (!asString(version)) return [];
  return [
    {
      version: asString(version) ?? '',
      urls: Array.isArray(urls) ? urls.flatMap((url) => asString(url) ?? []) : [],
    },
  ];
}

function parseMembers(text: string, host: string) {
  try {
    if (text.length > memberTextMax) throw new Error(`it is longer than ${memberTextMax} characters`);
    // All scalars are texts, as Clouddriver reads them: 1.10 is no number.
    const parsed: unknown = text === '' ? {} : parse(text, { schema: 'failsafe', logLevel: 'error' });
    if (isJsonObject(parsed)) return asJsonObject(parsed) ?? {};
    throw new Error('it is no mapping');
  } catch (cause) {
    throw new FailedOperationError(`The index of ${host} has a version of a chart that cannot be read`, {
      cause,
    });
  }
}

function getIndent(line: string): number {
  let indent = 0;
  while (line[indent] === ' ') indent += 1;
  return indent;
}
