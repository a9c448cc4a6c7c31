import { expect, test } from 'vitest';
import type { LeasedTaskMessage, Welcome } from '#agents/protocol/messages.ts';
import { GrantedAccounts } from '#infra/agent/config/granted-accounts.ts';
import type { HubAnswer } from '#infra/agent/hub/hub-client.ts';
import { RemoteTaskStore } from '#infra/agent/remote-task-store.ts';
import { AgentMetrics } from '#infra/agent/status/agent-metrics.ts';
import { WorkLoop } from '#infra/agent/work-loop.ts';
import { systemClock as clock, systemRandomness as randomness } from '#platform/services/system.ts';
import { silentLog as log } from '#test/support/engines/silent-log.ts';
import { parsePrometheusText } from '#test/support/system/prometheus-text.ts';

const welcome: Welcome = {
  ...{ session: 's', token: 't', expiresMs: 1, serverMs: 0 },
  accounts: [{ name: 'edge', operations: true, caching: false }],
  limits: { tasks: 10, accountTasks: 10, pollIdleMs: 2_000, pollBusyMs: 500 },
};

/** A task without operations: it is completed as soon as it is leased. */
const leased: LeasedTaskMessage = {
  ...{ lease: { fence: 1, sequence: 0 }, id: 'free', account: 'edge', run: 0, attempts: 1 },
  ...{ acceptedAtMs: 0, caller: {}, waitMs: 0, operations: '[]', journal: [] },
};

/** Busdriver, of whose tasks another replica of the agent holds all but the one that is called `free`. */
async function call({ path }: { readonly path: string }): Promise<HubAnswer> {
  if (path.endsWith('/free/lease')) return { status: 200, body: leased };
  if (path.endsWith('/free/commits')) return { status: 200, body: { fence: 1, sequence: 1 } };
  return { status: 409, body: undefined };
}

test('tasks that another replica holds are none of those that an agent counts', async () => {
  const metrics = new AgentMetrics();
  const accounts = new GrantedAccounts({
    accounts: [],
    clock,
    randomness,
    log,
    environment: {},
    cache: {},
  });
  accounts.take([]);
  const session = {
    ...{ welcome, call, getWelcome: async () => welcome, renewInTime: async () => undefined },
    ...{ forget() {}, renewSoon() {} },
  };
  const queue = { send: async () => undefined, extendVisibility: async () => undefined };
  const bus = { publish: async () => undefined };
  const store = new RemoteTaskStore({ session, clock, randomness });
  const loop = new WorkLoop({
    ...{ session, accounts, metrics, onTurn() {}, place: { take() {}, clock } },
    system: { store, queue, bus, clock, randomness, log, host: 'here' },
    followers: { refresh() {}, claim() {}, setConnected() {} },
  });
  for (const id of ['held', 'free', 'other']) loop.take({ kind: 'TASK', account: 'edge', id });
  // It stops at once, and waits for what it has begun.
  await loop.run(AbortSignal.abort());
  const told = parsePrometheusText(await metrics.format());
  const { samples = [] } = told.get('busdriver_agent_task_seconds') ?? {};
  expect(samples.find(({ name }) => name.endsWith('_count'))?.value).toBe(1);
  expect(told.get('busdriver_agent_tasks')?.samples).toMatchObject([{ value: 0 }]);
});
