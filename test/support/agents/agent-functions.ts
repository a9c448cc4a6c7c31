import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import { tables } from '#platform/aws/tables.ts';
import { Services } from '#platform/services/services.ts';
import { openTableClient } from '../engines/local-tables.ts';
import { silentLog } from '../engines/silent-log.ts';
import { type StoreTestClient, toStoreTestClient } from '../engines/store-test-client.ts';
import { makeTempDir } from '../run/temp-dir.ts';

/** Functions of agents in this process, on real tables. Disposing removes these. */
export interface AgentFunctions extends AsyncDisposable {
  /** What functions are to be called with: `handler.withServices(services)`. */
  readonly services: Services;
  /** The client by which they reach the tables. */
  readonly tables: StoreTestClient;
}

/** Opens what functions of agents work with. @param accounts of Kubernetes */
export async function openAgentFunctions(accounts: readonly object[]): Promise<AgentFunctions> {
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(await makeTempDir());
  const tableFile = path.join(dir.path, 'tables.sqlite');
  const engine = stack.use(new TableEngine({ file: tableFile, tables, log: silentLog }));
  const file = path.join(dir.path, 'clouddriver.yml');
  await writeFile(
    file,
    JSON.stringify({ busdriver: { agents: { enabled: true } }, kubernetes: { accounts } }),
  );
  const environment = {
    BUSDRIVER_TASKS_TABLE: 'tasks',
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'http://127.0.0.1:1/operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'http://127.0.0.1:1/agents',
    BUSDRIVER_BUS_NAME: 'bus',
    BUSDRIVER_LOG_LEVEL: 'SILENT',
    BUSDRIVER_PLACEMENT: 'local',
    BUSDRIVER_AGENT_KEY_FILE: path.join(dir.path, 'key.jwk'),
    BUSDRIVER_CONFIG_FILES: JSON.stringify([file]),
  };
  const client = toStoreTestClient(openTableClient(engine));
  const services = stack.use(new Services(environment, { dynamodb: client }));
  const opened = stack.move();
  return { services, tables: client, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
