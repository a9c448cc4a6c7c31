import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DynamoAccountStore } from '#accounts/aws/account-store.ts';
import { findEnrolmentFault, revokeAgents } from '#agents/agent-enrolment.ts';
import { createEnrolmentStore } from '#agents/aws/agent-enrolment-store.ts';
import { DynamoCachingAgentStore } from '#caching/aws/agents/caching-agent-store.ts';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { CacheTable } from '#caching/aws/store/cache-table.ts';
import { toRevision } from '#caching/store/revision.ts';
import { ConflictError } from '#core/errors.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import { accountsTable, cacheTable, type Table, tasksTable } from '#platform/aws/tables.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { listRunningTasks } from '#tasks/get-task.ts';
import { toTaskView } from '#tasks/task-view.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createStandingClock, testRandomness } from '#test/support/run/test-clock.ts';

/** Items as a release wrote them. A release that changes a form adds a recording, and changes none. */
interface Recording {
  readonly release: string;
  readonly nowMs: number;
  readonly tables: { readonly [table: string]: readonly (Item & ItemKey)[] };
}

const folder = join(import.meta.dirname, '../../../fixtures/stored-forms');
const recordings = readdirSync(folder)
  .sort()
  .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recording);
const [first, newest] = [recordings[0], recordings.at(-1)] as [Recording, Recording];
const object = { account: 'kube', kind: 'deployment', location: 'shop', name: 'web' };
const agent = { account: 'kube', name: 'KubernetesCoreCachingAgent[1/1]' };

const openTable = useLocalTables();

/** Stores over the items of a recording. @param form which form the items say they have */
async function openRecorded({ nowMs, tables }: Recording, form?: number) {
  const clock = createStandingClock();
  clock.advance(nowMs - clock.now());
  const told: string[] = [];
  const log = { error: (_line: string, fields?: object) => told.push(JSON.stringify(fields)) };
  const open = ({ name }: Table) => {
    const { tableName, openDocuments } = openTable({ ...cacheTable, name });
    return { documents: openDocuments(), tableName, clock, randomness: testRandomness, log };
  };
  const [tasks, accounts, cache] = [tasksTable, accountsTable, cacheTable].map((table) => {
    return { ...open(table), table: new CacheTable(open(table)), items: tables[table.name] ?? [] };
  });
  if (!tasks || !accounts || !cache) throw new Error('there are no tables');
  for (const { table, items } of [tasks, accounts, cache])
    for (const item of items) await table.put({ ...item, form });
  const task = tasks.items.find(({ sk }) => sk === 'HEADER');
  return {
    told,
    taskId: String(task?.['taskId']),
    tables: { tasks: tasks.table, accounts: accounts.table },
    cache: createCacheStore(cache),
    agents: new DynamoCachingAgentStore(cache),
    tasks: new DynamoTaskStore({ ...tasks }),
    accounts: new DynamoAccountStore({ ...accounts }),
    enrolments: createEnrolmentStore({ ...tasks }),
  };
}

describe.each(recordings)('what release $release stored', (recording) => {
  it('is read: tasks, accounts, enrolments, objects, rows and agents', async () => {
    const { cache, agents, tasks, taskId, accounts, enrolments } = await openRecorded(recording);
    expect(await tasks.find(taskId)).toMatchObject({
      state: 'STARTED',
      account: 'kube',
      caller: { user: 'ada' },
    });
    const leased = await tasks.takeLease(taskId, { ownerId: 'me', attempts: 1 });
    expect(await leased?.readOperations()).toMatchObject([{ name: 'deployManifest' }]);
    expect(await accounts.list({ type: 'kubernetes' })).toMatchObject([
      { name: 'edge', body: { kubeconfigFile: 'edge.yaml' } },
    ]);
    expect(await enrolments.find('edge')).toMatchObject({
      isRevoked: false,
      cluster: { version: 'v1.34.1' },
    });
    expect((await cache.getEpoch('kube'))?.identity).toMatch(/^c0ffee/);
    expect((await cache.getObjects([object]))[0]?.readBody()).toContain('"n":"web"');
    const row = await cache.getRow({
      account: 'kube',
      application: 'shop',
      view: 'json',
      row: 'deployment shop web',
    });
    expect(row?.read().get('self')?.value).toEqual({ name: 'web' });
    expect(await agents.list()).toMatchObject([agent]);
  });

  it('shows in the directory, or counts as absent, is told once and is written over', async () => {
    const { cache, told } = await openRecorded(recording);
    const found = await cache.listApplications();
    await cache.listApplications();
    expect(await cache.listKinds('kube')).toEqual(recording === first ? [] : ['deployment']);
    expect(found).toHaveLength(recording === first ? 0 : 1);
    expect(told).toEqual(
      recording === first
        ? [expect.stringMatching(/"kube".*APPLICATIONS/), expect.stringMatching(/"kube".*KINDS#kube/)]
        : [],
    );
    expect(cache.takeUnreadable('kube')).toBe(recording === first);
    expect(cache.takeUnreadable('kube')).toBe(false);
    const names = { clusters: ['deployment web'], locations: ['shop'] };
    await cache.recordApplication('shop', 'kube', names);
    expect(await cache.listApplications()).toEqual([{ application: 'shop', account: 'kube', ...names }]);
  });
});

describe('what a release stored in forms that this one does not know', () => {
  it('of the cache is absent, and is written over', async () => {
    const { cache, agents } = await openRecorded(newest, 2);
    expect(await cache.listApplications()).toEqual([]);
    expect(await cache.getEpoch('kube')).toBeUndefined();
    expect(await cache.getObjects([object])).toEqual([undefined]);
    expect(await agents.list()).toEqual([]);
    expect(await cache.raiseEpoch('kube', { epoch: 7, identity: 'c' })).toEqual({ epoch: 7, identity: 'c' });
    expect(await cache.getEpoch('kube')).toEqual({ epoch: 7, identity: 'c' });
    const revision = toRevision(29_999_999, '1');
    expect(await cache.putObject({ key: object, revision, body: '{}' })).toBe(true);
    const place = { account: 'kube', application: 'shop' };
    const change = { key: 'self', revision, seenAt: revision, value: { name: 'new' } };
    await cache.mergeRows(place, [{ view: 'json', row: 'deployment shop web', changes: [change] }]);
    const row = await cache.getRow({ ...place, view: 'json', row: 'deployment shop web' });
    expect(row?.read().get('self')?.value).toEqual({ name: 'new' });
    await agents.sync([{ ...agent, provider: 'kubernetes', intervalMs: 30_000 }]);
    expect(await agents.list()).toMatchObject([agent]);
  });

  it('of a task is kept, listed with its reason, and acted on by nobody', async () => {
    const { tasks, taskId, tables } = await openRecorded(newest, 2);
    const read = () => tables.tasks.query(`TASK#${taskId}`);
    const before = await read();
    const entry = { key: 'end', lines: [] };
    expect(
      await tasks.takeLease(taskId, { ownerId: 'me', attempts: 1 }).catch(() => undefined),
    ).toBeUndefined();
    await tasks.fail(taskId, 'FAILED', entry).catch(() => undefined);
    await expect(tasks.findStatus(taskId)).rejects.toThrow('attribute form: expected 1');
    const listed = (await listRunningTasks(tasks)).map((task) => JSON.parse(toTaskView(task, 0)));
    expect(listed.filter(({ id }) => id === taskId)).toMatchObject([
      {
        id: taskId,
        status: { completed: false, status: expect.stringMatching(/^The task cannot be read, and nobody/) },
      },
    ]);
    expect(await read()).toEqual(before);
  });

  it('of an account is kept, listed with its reason, and used by nobody', async () => {
    const { accounts, tables } = await openRecorded(newest, 2);
    const before = await tables.accounts.query('ACCOUNT#edge');
    const [account] = await accounts.list({ type: 'kubernetes' });
    expect(account).toMatchObject({
      name: 'edge',
      body: {},
      unreadable: expect.stringMatching(/attribute form/),
    });
    const definition = { name: 'edge', type: 'kubernetes', body: {}, origin: 'credentials' } as const;
    const writer = { expected: 1, modifiedBy: 'eve' };
    await expect(accounts.save(definition, writer)).rejects.toThrow(ConflictError);
    await expect(accounts.remove('edge', writer)).rejects.toThrow(ConflictError);
    expect(await tables.accounts.query('ACCOUNT#edge')).toEqual(before);
  });

  it('of an enrolment is kept, and lets nobody in', async () => {
    const { enrolments, tables } = await openRecorded(newest, 2);
    const before = await tables.tasks.query('ENROLMENT#edge');
    const enrolment = await enrolments.find('edge');
    expect(findEnrolmentFault('edge', enrolment, { uid: enrolment.cluster?.uid ?? '' })).toMatch(
      /cannot be read/,
    );
    await expect(enrolments.change('edge', (one) => revokeAgents(one, { atMs: 1 }))).rejects.toThrow(
      ConflictError,
    );
    expect(await tables.tasks.query('ENROLMENT#edge')).toEqual(before);
  });
});
