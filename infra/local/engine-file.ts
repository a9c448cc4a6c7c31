import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EngineCredentials } from '../../shared/runtime/config.ts';
import type { Engines } from './environment.ts';
import { localRegion } from './local-aws.ts';

/** Name of the file in the data directory. */
export const engineFileName = 'engines.env';

/**
 * Writes where the engines are and what to sign with, as variables that the AWS CLI and SDKs read, for whoever looks inside:
 * readable by this user alone. Disposing removes it; what a killed process leaves opens nothing, for each start has
 * credentials of its own.
 *
 * @param dataDir a directory that this user alone can enter
 */
export async function writeEngineFile(
  dataDir: string,
  { engines, credentials }: { readonly engines: Engines; readonly credentials: EngineCredentials },
): Promise<AsyncDisposable> {
  const file = path.join(dataDir, engineFileName);
  const lines = [
    `AWS_ACCESS_KEY_ID=${credentials.accessKeyId}`,
    `AWS_SECRET_ACCESS_KEY=${credentials.secretAccessKey}`,
    `AWS_REGION=${localRegion}`,
    `AWS_DEFAULT_REGION=${localRegion}`,
    `AWS_ENDPOINT_URL_DYNAMODB=${engines.dynamodb}`,
    `AWS_ENDPOINT_URL_SQS=${engines.sqs}`,
    `AWS_ENDPOINT_URL_EVENTBRIDGE=${engines.eventbridge}`,
  ];
  // An old file would keep its mode.
  await rm(file, { force: true });
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}
