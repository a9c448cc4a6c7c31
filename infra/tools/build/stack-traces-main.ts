import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const usage = `npm run traces --silent [-- FOLDER] < LOG

Copies the log of deployed functions from standard input, with places in the sources for those in bundles.
FOLDER has the source maps of what is deployed (default: dist/cdk/source-maps). What has none stays as it is.
`;

const folder = process.argv.at(-1) ?? '';
if (folder === '--help') {
  process.stdout.write(usage);
  process.exit();
}
if (!existsSync(folder)) {
  console.error(
    `${folder}: there is no such folder of source maps. npm run synth makes one; or name another.\n\n${usage}`,
  );
  process.exit(2);
}

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
