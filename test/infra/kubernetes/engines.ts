import { join } from 'node:path';
import { type Environment, endpointVariables, variables } from '#platform/config.ts';
import type { EnginesMessage } from '#test/lab/engines-main.ts';
import { startLabProcess } from '#test/lab/processes.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

/** DynamoDB, SQS and EventBridge in a process of their own, as replicas find them. Disposing ends it. */
export interface HomeEngines extends AsyncDisposable {
  /** Variables that tell a replica where they are. */
  readonly environment: Environment & { readonly [name: string]: string };
  /** A folder for the test's files. */
  readonly dir: string;
}

const busName = 'busdriver';

/** Starts them. Names of tables and queues have no prefix. */
export async function startHomeEngines(): Promise<HomeEngines> {
  await using starting = new AsyncDisposableStack();
  const dir = starting.use(await makeTempDir());
  const { engines, credentials } = starting.use(
    await startLabProcess<Extract<EnginesMessage, { engines: unknown }>>({
      module: 'engines-main.ts',
      args: [join(dir.path, 'dynamodb'), busName],
      logFile: join(dir.path, 'engines.log'),
    }),
  ).first;
  const running = starting.move();
  return {
    dir: dir.path,
    environment: {
      [endpointVariables.dynamodb]: engines.dynamodb,
      [endpointVariables.sqs]: engines.sqs,
      [endpointVariables.eventbridge]: engines.eventbridge,
      [variables.busName]: busName,
      [variables.engineAccessKeyId]: credentials.accessKeyId,
      [variables.engineSecretAccessKey]: credentials.secretAccessKey,
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
