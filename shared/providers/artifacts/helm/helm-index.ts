import { parse } from 'yaml';
import { parseVerbatimJson } from '#core/bounded-json.ts';
import { FailedOperationError } from '#core/errors.ts';
import {
  asJsonArray,
  asJsonObject,
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '#core/json.ts';
import { readLines } from './text-lines.ts';

/** Largest index of a repository of charts, in bytes. Those of thousands of charts have 20 MB. */
export const helmIndexBytesMax = 64 * 2 ** 20;

/** Most text about one chart, in characters: its versions with all that the index says of them. */
export const helmChartTextMax = 16 * 2 ** 20;

/** Most charts of a repository that are listed. */
export const helmChartsMax = 50_000;

/** Most versions of one chart. */
export const helmVersionsMax = 50_000;

/** Most text of an index, or of a chart in it, that is written in flow style as JSON is, in characters. */
export const helmFlowTextMax = 16 * 2 ** 20;

/** Most of it where it is no JSON: a parser of YAML takes a hundred times as long. */
export const helmFlowYamlMax = 2 ** 18;

/** Characters of that which may mean something to such a parser: each takes its time. */
const flowMarksMax = 50_000;

/** JSON of that length in an index has no more. */
const flowBounds = { depthMax: 64, valuesMax: 1_000_000 };

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
 * The index is read line by line where it is written as Helm and all that serve charts write it: a block of YAML for each chart. What the
 * blocks hold is not looked at. One in flow style, such as JSON, is read whole.
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
    if (name === chart) lines = [line];
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
  const items = lines && listItems(lines, host);
  if (items !== undefined && items.length > helmVersionsMax) {
    throw new FailedOperationError(
      `The index of ${host} has more than ${helmVersionsMax} versions of one chart`,
    );
  }
  return items?.flatMap((item) => parseVersion(item, host));
}

/** A line within `entries`: with the name where a chart begins, and then what stands behind that. */
interface EntryLine {
  readonly name: string | undefined;
  readonly line: string;
}

async function* readEntryLines(
  body: AsyncIterable<Uint8Array>,
  host: string,
): AsyncGenerator<EntryLine, void, undefined> {
  const lines = readLines(body, { host, bytesMax: helmIndexBytesMax, lineLengthMax: helmFlowTextMax });
  const start = await findFlowStart(lines, host);
  if (start !== undefined) return yield* writeBlocks(await readFlow(start, { lines, host }));
  let indent: number | undefined;
  for await (const line of lines) {
    if (isBlank(line)) continue;
    const depth = getIndent(line);
    if (depth === 0) return;
    if (indent === undefined && line.startsWith('{', depth))
      return yield* writeBlocks(await readFlow(`entries:\n${line}`, { lines, host }));
    indent ??= depth;
    const isName = depth === indent && !line.startsWith('-', depth);
    yield isName ? readKey(line.slice(depth), host) : { name: undefined, line };
  }
}

/** Reads to where the entries begin. @returns the line of it where they are in flow style; undefined where blocks follow */
async function findFlowStart(
  lines: AsyncGenerator<string, void, undefined>,
  host: string,
): Promise<string | undefined> {
  let isFirst = true;
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
    const { value: line } = next;
    if (isBlank(line)) continue;
    const value = findEntriesValue(line);
    if (value !== undefined) return isBlank(value) ? undefined : line;
    if (isFirst && line.trimStart().startsWith('{')) return line;
    isFirst = false;
  }
  throw toAbsence(host);
}

function toAbsence(host: string): FailedOperationError {
  return new FailedOperationError(`The index of ${host} has no entries: it is no index of Helm`);
}

/** Whether a line says nothing: it is empty, or a comment, or the beginning of a document. */
function isBlank(line: string): boolean {
  const text = line.trim();
  return text === '' || text.startsWith('#') || line === '---';
}

/** What stands behind the key of the entries, if a line begins with it. */
function findEntriesValue(line: string): string | undefined {
  return /^(?:entries|"entries"|'entries')[ \t]*:(.*)$/.exec(line)?.[1];
}

/** The entries, by name, of an index in flow style. @param first the line with which it begins, of those that are not read yet */
async function readFlow(
  first: string,
  { lines, host }: { readonly lines: AsyncIterable<string>; readonly host: string },
): Promise<JsonObject> {
  const text = [first];
  let length = first.length;
  for await (const line of lines) {
    length += line.length + 1;
    if (length > helmFlowTextMax) throw toFlowError(host);
    text.push(line);
  }
  const entries = asJsonObject(parseFlow(text.join('\n'), host))?.['entries'];
  if (entries !== undefined) return asJsonObject(entries) ?? {};
  throw toAbsence(host);
}

/** What a text in flow style holds. `JSON.stringify` writes numbers as they stand in it, if they are none but texts. */
function parseFlow(text: string, host: string): unknown {
  try {
    const json = text.length > helmFlowTextMax ? undefined : tryJson(text);
    if (json !== undefined) return json;
    if (text.length <= helmFlowYamlMax && countMarks(text) <= flowMarksMax) return parseTexts(text);
  } catch (cause) {
    throw toFlowError(host, cause);
  }
  throw toFlowError(host);
}

function countMarks(text: string): number {
  return text.match(/[^\w\s./]/g)?.length ?? 0;
}

/** @throws JsonBoundsError */
function tryJson(text: string): JsonValue | undefined {
  try {
    return parseVerbatimJson(text, flowBounds);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function toFlowError(host: string, cause?: unknown): FailedOperationError {
  const expected = `YAML in blocks, as Helm writes it, ${helmFlowTextMax} characters of JSON or ${helmFlowYamlMax} of other YAML at most`;
  return new FailedOperationError(`The index of ${host} cannot be read: expected ${expected}`, { cause });
}

/** The lines of entries as if they were blocks. */
function* writeBlocks(entries: JsonObject): Generator<EntryLine, void, undefined> {
  for (const [name, versions] of Object.entries(entries)) {
    yield { name, line: '' };
    for (const line of writeItems(versions)) yield { name: undefined, line: `- ${line}` };
  }
}

/** A line for each version of a chart, with what is asked for. */
function writeItems(versions: unknown): readonly string[] {
  return asJsonArray(versions).map((item) => {
    const { version, urls } = asJsonObject(item) ?? {};
    return JSON.stringify({ version, urls });
  });
}

/** The key that a line of a block begins with, and what stands behind it. */
function readKey(text: string, host: string): EntryLine {
  const end = findKeyEnd(text);
  const key = text.slice(0, end).trim();
  const line = text.slice(end + 1);
  if (key.startsWith("'") && key.endsWith("'")) return { name: key.slice(1, -1).replaceAll("''", "'"), line };
  if (key.startsWith('"') && key.endsWith('"')) return { name: key.slice(1, -1), line };
  if (end > 0) return { name: key, line };
  throw new FailedOperationError(`The index of ${host} cannot be read: expected the name of a chart`);
}

function findKeyEnd(text: string): number {
  const end = text.indexOf(': ');
  return end === -1 && text.trimEnd().endsWith(':') ? text.trimEnd().length - 1 : end;
}

/** The versions of a chart, each by its lines. @param value what stands behind the name: nothing, unless it is written in flow style */
function listItems([value = '', ...lines]: readonly string[], host: string): readonly (readonly string[])[] {
  if (isBlank(value)) return splitItems(lines);
  return writeItems(parseFlow([value, ...lines].join('\n'), host)).map((line) => [line]);
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
  // In flow style members are not told apart by lines.
  const isFlow = lines[0]?.startsWith('{', indent) === true;
  let isKept = isFlow;
  for (const line of lines) {
    const isKey = !isFlow && getIndent(line) === indent && !line.startsWith('-', indent);
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
    const parsed = text === '' ? {} : parseTexts(text);
    if (isJsonObject(parsed)) return asJsonObject(parsed) ?? {};
    throw new Error('it is no mapping');
  } catch (cause) {
    throw new FailedOperationError(`The index of ${host} has a version of a chart that cannot be read`, {
      cause,
    });
  }
}

/** What YAML holds. All scalars are texts, as Clouddriver reads them: 1.10 is no number. */
function parseTexts(text: string): unknown {
  return parse(text, { schema: 'failsafe', logLevel: 'error', uniqueKeys: false });
}

function getIndent(line: string): number {
  let indent = 0;
  while (line[indent] === ' ') indent += 1;
  return indent;
}
