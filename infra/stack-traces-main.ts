import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

// node infra/stack-traces-main.ts FOLDER: copies the log of deployed functions from standard input, with places in sources for those in
// bundles. FOLDER has the source maps of what is deployed; what it has none of stays as it is.
const folder = process.argv.at(-1) ?? '';
if (!existsSync(folder)) throw new Error(`${folder}: there is no such folder of source maps`);

/** Where Lambda has the code of a function, then file, line and column, counted from 1. */
const place = /file:\/\/\/var\/task\/([\w.-]+\.mjs):(\d+):(\d+)/g;

const maps = new Map<string, SourceMap | undefined>();
for await (const line of createInterface({ input: process.stdin }))
  console.log(line.replaceAll(place, (text: string, ...at: string[]) => find(...at) ?? text));

/** Path from the project's folder, line and column, as `shared/core/json.ts:12:3`. */
function find(...[file = '', row = '', column = '']: string[]): string | undefined {
  if (!maps.has(file)) maps.set(file, readMap(join(folder, `${file}.map`)));
  const origin = maps.get(file)?.findOrigin(Number(row), Number(column));
  if (origin === undefined || !('fileName' in origin)) return undefined;
  // Maps name sources from where the bundle would be.
  return `${origin.fileName.replace(/^(\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`;
}

function readMap(file: string): SourceMap | undefined {
  return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}
