import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { cacheTable } from '#platform/aws/tables.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { toStoreTestClient } from '#test/support/engines/store-test-client.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

/** The cache's table of a local DynamoDB in a process of its own, so that it has a processor of its own. */
export async function startEngineProcess(): Promise<StoreEngine & AsyncDisposable> {
  const dir = await makeTempDir();
  const child = fork(join(import.meta.dirname, 'engine-main.ts'), [join(dir.path, 'data')]);
  const ended = once(child, 'exit');
  const [endpoint] = (await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error('the local DynamoDB did not start'))),
  ])) as [string];
  return {
    tableName: cacheTable.name,
    openDocuments: () => toStoreTestClient(new DynamoDBClient({ ...localClientOptions, endpoint })),
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await ended;
      await dir[Symbol.asyncDispose]();
    },
  };
}
