import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** Where a line of a stack stands in a chunk of a bundle: its name, line and column, counted from 1. */
const position = /^([\w.-]+\.mjs):(\d{1,7}):(\d{1,7})/;

/**
 * Tells stacks of bundled code by the lines of its sources. Node does so by itself with `--enable-source-maps`, and reads every
 * source map at the start for it, a fifth of what a cold start takes; here a map is read when a stack is told that needs it.
 */
export class StackTraces {
  readonly #folder: string;
  /** By the name of the chunk: no more than the bundle has. Undefined where there is none that can be read. */
  readonly #maps = new Map<string, SourceMap | undefined>();

  /** @param folder URL of the folder with the chunks and their maps, with a slash at its end. Default: where this code is. */
  constructor(folder: string = new URL('.', import.meta.url).href) {
    this.#folder = folder;
  }

  /** The stack with places in sources, `shared/core/json.ts:12:3`; what is of no chunk, or of one without a map, stays as it is. */
  translate(stack: string): string {
    return stack
      .split('\n')
      .map((line) => this.#translateLine(line))
      .join('\n');
  }

  #translateLine(line: string): string {
    const start = line.startsWith('    at ') ? line.indexOf(this.#folder) : -1;
    if (start < 0) return line;
    const rest = line.slice(start + this.#folder.length);
    const [place = '', chunk = '', row, column] = position.exec(rest) ?? [];
    const origin = this.#getMap(chunk)?.findOrigin(Number(row), Number(column));
    if (origin === undefined || !('fileName' in origin)) return line;
    const source = `${toPath(origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
    return line.slice(0, start) + source + rest.slice(place.length);
  }

  #getMap(chunk: string): SourceMap | undefined {
    if (chunk === '') return undefined;
    if (!this.#maps.has(chunk)) this.#maps.set(chunk, readMap(`${this.#folder}${chunk}.map`));
    return this.#maps.get(chunk);
  }
}

function readMap(url: string): SourceMap | undefined {
  try {
    const payload: SourceMapPayload = JSON.parse(readFileSync(new URL(url), 'utf8'));
    return new SourceMap(payload);
  } catch {
    return undefined;
  }
}

/** The path from the project's folder: maps name sources from the folder of the bundle. */
function toPath(source: string): string {
  return source.replace(/^(\.\.\/)+/, '');
}
