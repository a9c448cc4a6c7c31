import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type ScalarTag,
  type Tags,
} from 'yaml';
import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { joinPath, toCanonicalPath } from '../spring-config.ts';

/** One document of a settings file, and where its lines are. */
export interface SettingsDocument {
  /** Name of the file in messages. */
  readonly file: string;
  /** Its rank where a file's documents have another order than in the text: lower comes first. Default 0. */
  readonly rank?: number;
  readonly data: JsonObject;
  /** The line, from 1, on which the value at a dotted path begins; undefined when the document has no such path. */
  findLine(path: string): number | undefined;
}

/**
 * Reads every document of a YAML text; empty ones are left out. The dialect is that of Spring's parser, YAML 1.1: `yes` and `off` are
 * booleans, `012` is octal, `<<` merges, dates and `y` stay text.
 *
 * @param file name of the text's origin in messages.
 * @throws InvalidInputError naming file, line and column. It never quotes the text, which may hold secrets.
 */
export function parseSettingsDocuments(text: string, file: string): readonly SettingsDocument[] {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, {
    schema: 'yaml-1.1',
    merge: true,
    customTags: selectTags,
    prettyErrors: false,
    lineCounter,
  });
  const found: SettingsDocument[] = [];
  for (const document of documents) {
    const data = readDocument(document as Document.Parsed, { file, lineCounter });
    if (data === null) continue;
    let lines: ReadonlyMap<string, number> | undefined;
    const findLine = (path: string) => {
      lines ??= indexLines(document as Document.Parsed, lineCounter);
      return lines.get(toCanonicalPath(path));
    };
    found.push({ file, data, findLine });
  }
  return found;
}

/** The path without its last key or index; empty at the top. */
export function getParentPath(path: string): string {
  return path.replace(/(?:^|\.)[^.[]*$|\[\d+\]$/, '');
}

interface Origin {
  readonly file: string;
  readonly lineCounter: LineCounter;
}

/** The document's data; null when it is empty. */
function readDocument(document: Document.Parsed, { file, lineCounter }: Origin): JsonObject | null {
  const refuse = (offset: number, complaint: string): never => {
    const { line, col } = lineCounter.linePos(offset);
    throw new InvalidInputError(`${file}:${line}:${col}: ${complaint}`);
  };
  const [error] = document.errors;
  if (error) refuse(error.pos[0], `not YAML: ${error.code.toLowerCase().replaceAll('_', ' ')}`);
  const start = document.contents?.range[0] ?? document.range[0];
  const data = readData(document, (complaint) => refuse(start, complaint));
  if (data !== null && !isJsonObject(data)) refuse(start, 'expected a map of settings');
  return data as JsonObject | null;
}

/** Uses of anchors, counting nested ones each time: Spring's parser has no limit, hundreds of accounts need many. */
const aliasUsesMax = 100_000;

/** The parser resolves aliases only when the data is made. */
function readData(document: Document.Parsed, refuse: (complaint: string) => never): JsonValue {
  try {
    return (document.toJS({ maxAliasCount: aliasUsesMax }) as JsonValue | undefined) ?? null;
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    const isExcess = error.message.startsWith('Excessive');
    return refuse(
      isExcess ? 'aliases within aliases make it too large' : 'not YAML: an alias without its anchor',
    );
  }
}

/** Spring's parser has no dates, base-60 numbers, or short `y` and `n`; a number like `0129` is text. */
function selectTags(tags: Tags): Tags {
  const kept = tags.filter((tag) => typeof tag === 'string' || !isForeignTag(tag.tag, formatOf(tag)));
  return kept.map((tag) => (isScalarTag(tag) ? narrowTag(tag) : tag));
}

function narrowTag(tag: ScalarTag): ScalarTag {
  if (tag.tag.endsWith(':bool')) {
    return {
      ...tag,
      test: toCasesPattern(tag.test?.test('true') ? ['true', 'yes', 'on'] : ['false', 'no', 'off']),
    };
  }
  const isDecimal = tag.tag.endsWith(':int') && tag.format === undefined;
  return isDecimal ? { ...tag, test: /^[-+]?(?:0|[1-9][0-9_]*)$/ } : tag;
}

function isScalarTag(tag: Tags[number]): tag is ScalarTag {
  return typeof tag === 'object' && 'test' in tag;
}

function isForeignTag(tag: string, format: string | undefined): boolean {
  return format === 'TIME' || /:(timestamp|binary|omap|pairs|set)$/.test(tag);
}

function formatOf(tag: object): string | undefined {
  return 'format' in tag && typeof tag.format === 'string' ? tag.format : undefined;
}

/** Each word in lower, title and upper case. */
function toCasesPattern(words: readonly string[]): RegExp {
  const spellings = words.flatMap((word) => [
    word,
    word.charAt(0).toUpperCase() + word.slice(1),
    word.toUpperCase(),
  ]);
  return new RegExp(`^(?:${spellings.join('|')})$`);
}

/** Lines by canonical path. */
function indexLines(document: Document.Parsed, lineCounter: LineCounter): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const record = (path: string, node: unknown) => {
    const offset = isNodeWithRange(node) ? node.range?.[0] : undefined;
    if (offset === undefined) return;
    const { line } = lineCounter.linePos(offset);
    const canonical = toCanonicalPath(path);
    lines.set(canonical, line);
    for (let above = getParentPath(canonical); above !== ''; above = getParentPath(above)) {
      if (!lines.has(above)) lines.set(above, line);
    }
  };
  const walk = (node: unknown, path: string): void => {
    if (isSeq(node)) {
      node.items.forEach((item, index) => {
        record(joinPath(path, index), item);
        walk(item, joinPath(path, index));
      });
    }
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      const below = joinPath(path, isScalar(key) ? String(key.value) : '');
      record(below, key);
      walk(value, below);
    }
  };
  walk(document.contents, '');
  return lines;
}

function isNodeWithRange(node: unknown): node is { readonly range?: readonly number[] | null } {
  return typeof node === 'object' && node !== null && 'range' in node;
}
