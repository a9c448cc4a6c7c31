import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { engineFileName } from '../../../infra/local/engine-file.ts';
import type { EngineCredentials } from '../../../shared/runtime/config.ts';

/** What callers of the engines of a running `npm start` sign with, read as its user would. */
export async function readEngineCredentials(dataDir: string): Promise<EngineCredentials> {
  const variables = parseEnv(await readFile(path.join(dataDir, engineFileName), 'utf8'));
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = variables;
  return { accessKeyId, secretAccessKey };
}
