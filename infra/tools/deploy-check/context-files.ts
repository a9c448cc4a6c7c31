import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asJsonObject, isJsonObject, type JsonObject } from '#core/json.ts';

const root = join(import.meta.dirname, '../../..');

/** Options of the app as CDK reads them: those of the command line win over cdk.context.json, and that over cdk.json. */
export function readContextFiles(given: { readonly [name: string]: string }): { [name: string]: unknown } {
  const settings = readJsonFile(join(root, 'cdk.json'));
  const cached = readJsonFile(join(root, 'cdk.context.json'));
  return { ...asJsonObject(settings['context']), ...cached, ...given };
}

/** Reads a JSON object; an empty one where there is no file, or something else in it. */
export function readJsonFile(path: string): JsonObject {
  if (!existsSync(path)) return {};
  const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return isJsonObject(content) ? content : {};
}
