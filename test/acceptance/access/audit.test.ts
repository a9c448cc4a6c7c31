import { generateKeyPairSync } from 'node:crypto';
import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEventsPerSecond } from '#access/http/audit.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { openApi } from '#test/support/cluster/cluster-api.ts';
import type { System } from '#test/support/system/system.ts';
import {
  type AttackSystem,
  type AuditLine,
  call,
  callers,
  deploy,
  type Headers,
  listAudit,
  type Sent,
  startAttackSystem,
  startSilentServer,
  toSettings,
} from './attack-system.ts';

const planted = 'planted-in-a-secret-4711';
const { owner, stranger } = callers;

describeWithCluster('the audit', (cluster) => {
  const stack = new AsyncDisposableStack();
  let namespace: TestNamespace;
  let attack: AttackSystem;
  let system: System;

  beforeAll(async () => {
    namespace = stack.use(await createNamespace('audit'));
    const body = { metadata: { name: 'code' }, stringData: { a: planted } };
    await openApi(CoreV1Api).createNamespacedSecret({ namespace: namespace.name, body });
    attack = stack.use(
      await startAttackSystem(
        toSettings({ kubeconfigFile: cluster.kubeconfig, namespaces: [namespace.name] }),
      ),
    );
    system = attack.system;
  });

  afterAll(() => stack.disposeAsync());

  /** What is done, whether it is allowed, and the one record that tells it. */
  const acts: readonly {
    readonly title: string;
    readonly path: string;
    readonly sent?: Omit<Sent, 'headers'>;
    readonly allowed: Omit<AuditLine, 'outcome'>;
    readonly refused: Omit<AuditLine, 'outcome'>;
    /** Where accepted operations have their own events. */
    readonly isToldByTask?: boolean;
  }[] = [
    {
      title: 'operations',
      path: '/kubernetes/ops',
      sent: { method: 'POST', body: [deleteConfigMap()] },
      allowed: {
        action: 'startOperations',
        status: 200,
        account: 'gated',
        operations: ['deleteManifest'],
        taskId: expect.any(String),
      },
      refused: {
        action: 'startOperations',
        status: 400,
        account: 'gated',
        operations: ['deleteManifest'],
        reason: 'Access denied to account gated',
      },
      isToldByTask: true,
    },
    {
      title: 'a read of a Secret',
      path: '/manifests/gated/NAMESPACE/secret%20code',
      allowed: { action: 'readSecret', status: 200, account: 'gated', name: 'secret code', values: 'shown' },
      refused: {
        action: 'GET /manifests/{account}/{location}/{name}',
        status: 403,
        account: 'gated',
        name: 'secret code',
        reason: 'Access denied to account gated - required authorization: READ',
      },
    },
    {
      title: 'a console',
      path: '/instances/gated/NAMESPACE/pod%20none/console',
      allowed: { action: 'readConsole', account: 'gated', name: 'pod none' },
      refused: { action: 'readConsole', status: 403, account: 'gated', name: 'pod none' },
    },
    {
      title: 'the deletion of a Job',
      path: '/applications/a/jobs/gated/NAMESPACE/job%20none',
      sent: { method: 'DELETE' },
      allowed: { action: 'deleteJob', account: 'gated', application: 'a', name: 'job none' },
      refused: { action: 'deleteJob', status: 403, account: 'gated', application: 'a', name: 'job none' },
    },
    {
      title: 'a change of a task',
      path: '/kubernetes/task/TASK',
      sent: { method: 'PATCH', body: { retry: false } },
      allowed: { action: 'changeTask', status: 200, account: 'gated', taskId: 'TASK' },
      refused: { action: 'changeTask', status: 403, account: 'gated', taskId: 'TASK' },
    },
  ];

  it.each(acts)('has one line and one event for $title, allowed or refused', async (act) => {
    const taskId = await makeTask();
    const fill = (value: string): string =>
      value.replace('NAMESPACE', namespace.name).replace('TASK', taskId);
    for (const [headers, expected, outcome] of [
      [owner, act.allowed, /allowed|failed/],
      [stranger, act.refused, /refused/],
    ] as const) {
      const requestId = `${act.title}-${headers['X-SPINNAKER-USER']}`.replaceAll(' ', '-');
      const body = act.sent?.body && JSON.parse(fill(JSON.stringify(act.sent.body)));
      const sent = { ...act.sent, body, headers: { ...headers, 'X-SPINNAKER-REQUEST-ID': requestId } };
      const { status } = await call(system, fill(act.path), sent);
      const find = async () => (await listAudit(system)).filter((line) => line['requestId'] === requestId);
      await expect.poll(find).toHaveLength(1);
      const record = {
        ...expected,
        ...(expected['taskId'] === 'TASK' && { taskId }),
        user: headers['X-SPINNAKER-USER'],
        outcome: expect.stringMatching(outcome),
        status,
      };
      expect((await find())[0]).toMatchObject(record);
      const isTold = act.isToldByTask && headers === owner;
      const type = isTold ? 'TaskAccepted' : 'Audit';
      const listEvents = async () =>
        (await system.readEvents()).filter(
          ({ detail, ...event }) => event['detail-type'] === type && detail['requestId'] === requestId,
        );
      await expect.poll(listEvents).toHaveLength(1);
      if (!isTold) expect((await listEvents())[0]?.detail).toMatchObject(record);
      expect(await find()).toHaveLength(1);
    }
  });

  it('tells on the bus which operations of which accounts were accepted', async () => {
    const id = await makeTask();
    const find = async () =>
      (await system.readEvents()).find(
        ({ detail, ...event }) => event['detail-type'] === 'TaskAccepted' && detail['taskId'] === id,
      );
    await expect.poll(find).toBeDefined();
    expect((await find())?.detail).toMatchObject({
      user: 'owner',
      account: 'gated',
      accounts: ['gated'],
      operations: ['deleteManifest'],
    });
  });

  it('holds no Secret and no body', async () => {
    await call(system, `/manifests/gated/${namespace.name}/secret%20code`, { headers: owner });
    const body = [{ deleteManifest: { account: 'gated', location: planted, manifestName: planted } }];
    await call(system, '/kubernetes/ops', { method: 'POST', headers: stranger, body });
    const isTold = async () =>
      (await listAudit(system)).some(
        ({ action, user }) => action === 'startOperations' && user === 'stranger',
      );
    await expect.poll(isTold).toBe(true);
    const told = JSON.stringify([await listAudit(system), await system.readEvents()]);

    expect(told).not.toContain(planted);
    expect(told).not.toContain(Buffer.from(planted).toString('base64'));
  });

  it('tells shown values of a Secret from masked ones, which reads: off does not show', async () => {
    const account = { kubeconfigFile: cluster.kubeconfig, namespaces: [namespace.name] };
    await using open = await startAttackSystem(toSettings(account, { authorization: { reads: 'off' } }));
    const path = `/manifests/gated/${namespace.name}/secret%20code`;
    const read = (headers: Headers) => call(open.system, path, { headers });
    const [masked, shown] = [await read(stranger), await read(owner)];
    const encoded = Buffer.from(planted).toString('base64');

    expect([masked.status, masked.text.includes(encoded)]).toEqual([200, false]);
    expect([shown.status, shown.text.includes(encoded)]).toEqual([200, true]);
    const list = async () => (await listAudit(open.system)).map(({ user, values }) => [user, values]);
    await expect.poll(list).toEqual([
      ['stranger', 'masked'],
      ['owner', 'shown'],
    ]);
  });

  function deleteConfigMap(): object {
    return { deleteManifest: { account: 'gated', manifestName: 'configMap none', location: 'NAMESPACE' } };
  }

  async function makeTask(): Promise<string> {
    const description = { account: 'gated', manifestName: 'configMap none', location: namespace.name };
    const body = [{ deleteManifest: description }];
    const { body: answer } = await call(system, '/kubernetes/ops', { method: 'POST', headers: owner, body });
    const id = String(answer['id']);
    const isDone = async () => (await call(system, `/task/${id}`, { headers: owner })).text;
    await expect.poll(isDone).toContain('"completed":true');
    return id;
  }
});

describe('a flood of refusals', () => {
  it('is in the log, and on the bus as far as the bus takes it', async () => {
    await using server = await startSilentServer();
    await using attack = await startAttackSystem(toSettings({ kubeconfigContents: server.kubeconfig }));
    const { system } = attack;
    const count = 300;
    const startMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: count }, () => call(system, '/securityGroups/gated', { headers: stranger })),
    );
    const isLogged = async () => (await listAudit(system)).filter(({ outcome }) => outcome === 'refused');
    await expect.poll(isLogged).toHaveLength(count);
    const seconds = Math.ceil((performance.now() - startMs) / 1000) + 1;
    const events = await system.readEvents();
    const published = events.filter((event) => event['detail-type'] === 'Audit').length;

    expect(answers.filter(({ status }) => status !== 403)).toEqual([]);
    expect(published).toBeGreaterThan(0);
    expect(published).toBeLessThanOrEqual(seconds * auditEventsPerSecond);
  });
});

describe('who cannot prove who he is', () => {
  it('is refused with 401, and recorded as who he says he is, not as who he is', async () => {
    await using server = await startSilentServer();
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256' } as const;
    const identity = {
      mode: 'signed',
      jwks: JSON.stringify({ keys: [jwk] }),
      issuer: 'https://gate',
      audience: 'busdriver',
    };
    await using attack = await startAttackSystem(
      toSettings({ kubeconfigContents: server.kubeconfig }, { identity }),
    );
    const { system } = attack;
    const body = deploy('open');
    const { status } = await call(system, '/kubernetes/ops', { method: 'POST', headers: owner, body });
    const find = () => listAudit(system);
    await expect.poll(find).toHaveLength(1);

    expect(status).toBe(401);
    const [record] = await find();
    expect(record).toMatchObject({
      action: 'startOperations',
      outcome: 'refused',
      status: 401,
      claimedUser: 'owner',
      reason: expect.any(String),
    });
    expect(record).not.toHaveProperty('user');
  });
});
