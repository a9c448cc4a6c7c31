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

/** Largest index of a repository of charts, in bytes. Those of thousands of charts have 20 MB. */
export const helmIndexBytesMax = 64 * 2 ** 20;

/** The most text about one chart, in characters: its versions with all their details in the index. */
export const helmChartTextMax = 16 * 2 ** 20;

/** Most charts of a repository that are listed. */
export const helmChartsMax = 50_000;

/** Most versions of one chart. */
export const helmVersionsMax = 50_000;

/** Most text of an index, or of a chart in it, that is in flow style, like JSON, in characters. */
export const helmFlowTextMax = 16 * 2 ** 20;

/** The most of it if it is not JSON: a YAML parser takes a hundred times as long. */
export const helmFlowYamlMax = 2 ** 18;

/** The most characters in it that such a parser may interpret: each takes time. */
const flowMarksMax = 50_000;

/** JSON of that length in an index stays within these. */
const flowBounds = { depthMax: 64, valuesMax: 1_000_000 };

/** The most text of one version's number and URLs, in characters. */
const memberTextMax = 64 * 1024;

/** A version of a chart. */
export interface ChartVersion {
  readonly version: string;
  /** URLs of its archive, absolute or relative to the repository, in order of preference. */
  readonly urls: readonly string[];
}

/**
 * The names of the charts in an index, in its order.
 *
 * An index in the usual form of Helm and chart servers, with a block of YAML for each chart, is read line by line, without parsing the
 * blocks. One in flow style, such as JSON, is read as a whole.
 *
 * @throws FailedOperationError if it exceeds a limit or is not an index.
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
 * The versions of a chart in an index, in its order; undefined if the index has no such chart. Reads no further than the chart, and holds
 * only its text.
 *
 * @throws FailedOperationError like `readChartNames`, and if the chart's own text exceeds a limit or cannot be read.
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

/** A line within `entries`: if a chart begins there, its name and the text after it. */
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

/** Reads to the beginning of the entries. @returns its line if they are in flow style; undefined if blocks follow */
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

/** Whether a line can be skipped: it is empty, a comment, or the beginning of a document. */
function isBlank(line: string): boolean {
  const text = line.trim();
  return text === '' || text.startsWith('#') || line === '---';
}

/** The text after the key of the entries, if a line begins with it. */
function findEntriesValue(line: string): string | undefined {
  return /^(?:entries|"entries"|'entries')[ \t]*:(.*)$/.exec(line)?.[1];
}

/** The entries, by name, of an index in flow style. @param first its first line */
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

/** The value of a text in flow style. `JSON.stringify` writes its numbers unchanged, unless they are already texts. */
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

/** The entries as lines of blocks. */
function* writeBlocks(entries: JsonObject): Generator<EntryLine, void, undefined> {
  for (const [name, versions] of Object.entries(entries)) {
    yield { name, line: '' };
    for (const line of writeItems(versions)) yield { name: undefined, line: `- ${line}` };
  }
}

/** A line for each version of a chart, with the wanted members. */
function writeItems(versions: unknown): readonly string[] {
  return asJsonArray(versions).map((item) => {
    const { version, urls } = asJsonObject(item) ?? {};
    return JSON.stringify({ version, urls });
  });
}

/** The key at the beginning of a block's line, and the text after it. */
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

/** The versions of a chart, each by its lines. @param value the text after the name: empty, unless it is in flow style */
function listItems([value = '', ...lines]: readonly string[], host: string): readonly (readonly string[])[] {
  if (isBlank(value)) return splitItems(lines);
  return writeItems(parseFlow([value, ...lines].join('\n'), host)).map((line) => [line]);
}

/** Splits the lines of a list into those of its items; the dash of each becomes a blank. */
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

/** Parses only the two wanted members of a version: they are one line in a thousand of an index. */
function parseVersion(lines: readonly string[], host: string): readonly ChartVersion[] {
  const indent = getIndent(lines[0] ?? '');
  const kept: string[] = [];
  // In flow style, members are not on separate lines.
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

/** The value of YAML. As in Clouddriver, all scalars are texts: 1.10 is not a number. */
function parseTexts(text: string): unknown {
  return parse(text, { schema: 'failsafe', logLevel: 'error', uniqueKeys: false });
}

function getIndent(line: string): number {
  let indent = 0;
  while (line[indent] === ' ') indent += 1;
  return indent;
}

/** Limits of a document that is read line by line. */
interface LineLimits {
  /** The sender, for messages. */
  readonly host: string;
  /** Most bytes of the whole document. */
  readonly bytesMax: number;
  /** Most characters of a line. */
  readonly lineLengthMax: number;
}

/**
 * The lines of a UTF-8 text as it arrives, without line ends. Holds no more than a line and a piece in memory.
 *
 * @throws FailedOperationError, while iterating, if the text or a line exceeds its limit.
 */
async function* readLines(
  body: AsyncIterable<Uint8Array>,
  { host, bytesMax, lineLengthMax }: LineLimits,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let rest = '';
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) throw new FailedOperationError(`${host} tells more than ${bytesMax} bytes`);
    const lines = decoder.decode(piece, { stream: true }).split('\n');
    lines[0] = rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    if (rest.length > lineLengthMax || lines.some(({ length }) => length > lineLengthMax)) {
      throw new FailedOperationError(`${host} tells a line of more than ${lineLengthMax} characters`);
    }
    yield* lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
