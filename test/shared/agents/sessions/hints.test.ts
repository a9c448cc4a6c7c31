import { expect, test } from 'vitest';
import type { AgentConnection, Hint } from '#agents/agent-connections.ts';
import { openAgentSessions } from '#agents/sessions/agent-sessions.ts';
import { openConnections } from '#agents/sessions/connections.ts';
import type { HintDelivery } from '#agents/sessions/hint-port.ts';
import { bindHintPort, getHintUrl } from '#agents/sessions/hint-port.ts';
import { openHints } from '#agents/sessions/hints.ts';
import { tasksTable } from '#platform/aws/tables.ts';
import { Services } from '#platform/services/services.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();

async function open() {
  const { tableName, openDocuments } = openTable(tasksTable);
  const environment = {
    BUSDRIVER_TASKS_TABLE: tableName,
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'http://127.0.0.1:1/0/operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'http://127.0.0.1:1/0/agents',
    BUSDRIVER_BUS_NAME: 'busdriver',
    BUSDRIVER_PLACEMENT: 'local',
    BUSDRIVER_LOG_LEVEL: 'SILENT',
  };
  const services = new Services(environment, { dynamodb: openDocuments() });
  const account = testRandomness.id();
  const connect = async (session: string, connectedAtMs: number): Promise<AgentConnection> => {
    const opened = {
      id: session,
      agentId: 'agent',
      version: '1',
      zone: '',
      protocol: 1,
      journalFormat: 1,
      accounts: [],
      warnings: [],
    };
    const nowMs = Date.now();
    await openAgentSessions(services).open({
      ...opened,
      openedAtMs: nowMs,
      seenAtMs: nowMs,
      isClosed: false,
    });
    const connection = {
      ...{
        id: testRandomness.id(),
        account,
        session,
        agentId: 'agent',
        zone: '',
        protocol: 1,
        journalFormat: 1,
        transport: 'websocket',
      },
      ...{ holder: undefined, connectedAtMs },
    };
    expect(await openConnections(services).add(connection)).toBe(true);
    return connection;
  };
  const posted: string[] = [];
  const bind = (answer: (id: string) => HintDelivery, deliver?: (hint: Hint) => boolean): void =>
    bindHintPort(services, {
      url: '/somewhere',
      ...(deliver && { deliver }),
      async post({ id }) {
        posted.push(id);
        return answer(id);
      },
    });
  return {
    ...{ services, account, connect, posted, bind, hints: openHints(services) },
    [Symbol.asyncDispose]: () => services[Symbol.asyncDispose](),
  };
}

test('two connections are told of a task, the newest first; one that is gone is forgotten', async () => {
  await using world = await open();
  const { account, connect, posted, bind, hints, services } = world;
  const now = Date.now();
  const [oldest, middle, newest] = [
    await connect('s1', now - 3),
    await connect('s2', now - 2),
    await connect('s3', now - 1),
  ];
  bind((id) => (id === newest?.id ? 'gone' : 'delivered'));
  await hints.send({ kind: 'TASK', account, id: 'task' });
  expect(posted).toEqual([newest?.id, middle?.id]);
  const left = await openConnections(services).list(account);
  expect(left.map(({ id }) => id)).toEqual([middle?.id, oldest?.id]);
});

test('that a session is over is told to its own connections, that accounts changed to all', async () => {
  await using world = await open();
  const { account, connect, posted, bind, hints } = world;
  const now = Date.now();
  const all = [await connect('s1', now - 3), await connect('s2', now - 2), await connect('s3', now - 1)];
  bind(
    () => 'delivered',
    () => true,
  );
  await hints.send({ kind: 'CLOSE', account, id: 's1' });
  expect(posted).toEqual([all[0]?.id]);
  await hints.send({ kind: 'ACCOUNTS', account, id: '' });
  expect(posted.slice(1).sort()).toEqual(all.map(({ id }) => id).sort());
});

test('nobody else is told of a read that an agent of this process heard of, and nothing fails', async () => {
  await using world = await open();
  const { account, connect, posted, bind, hints, services } = world;
  await connect('s1', Date.now());
  expect(getHintUrl(services)).toBe('');
  await hints.send({ kind: 'READ', account, id: 'nobody is bound' });
  const told: Hint[] = [];
  bind(
    () => 'delivered',
    (hint) => told.push(hint) > 0,
  );
  expect(getHintUrl(services)).toBe('/somewhere');
  await hints.send({ kind: 'READ', account, id: 'read' });
  expect(told).toEqual([{ kind: 'READ', account, id: 'read' }]);
  expect(posted).toEqual([]);
  bind(() => {
    throw new Error('the way is cut');
  });
  await hints.send({ kind: 'READ', account, id: 'read' });
  expect(posted).toHaveLength(1);
});
