import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { System } from '#test/support/system/system.ts';
import {
  type AttackSystem,
  call,
  callers,
  callRaw,
  deploy,
  type Headers,
  listAudit,
  post,
  type SilentServer,
  startAttackSystem,
  startSilentServer,
  toSettings,
} from './attack-system.ts';

const { owner, stranger } = callers;
const denied = { status: 400, body: { errors: ['Access denied to account gated'] } };

let server: SilentServer;
let account: JsonObject;

beforeAll(async () => {
  server = await startSilentServer();
  account = { kubeconfigContents: server.kubeconfig, namespaces: ['default'] };
});

afterAll(() => server?.[Symbol.asyncDispose]());

describe('somebody who may use the open account alone', () => {
  let attack: AttackSystem;
  let system: System;

  beforeAll(async () => {
    attack = await startAttackSystem(toSettings(account));
    system = attack.system;
  });

  afterAll(() => attack?.[Symbol.asyncDispose]());

  it('takes nobody an operation away by posting its clientRequestId first', async () => {
    const requestId = 'taken-first';
    const first = await post(system, 'open', { headers: stranger, requestId });
    const second = await post(system, 'gated', { headers: owner, requestId });
    const own = await post(system, 'gated', { headers: owner, requestId: 'of-its-own' });

    expect(first.status).toBe(200);
    expect(second.status).toBe(400);
    expect(second.body['errors']).toEqual([
      "clientRequestId 'taken-first' belongs to a task of other accounts: post these operations under an id of their own",
    ]);
    expect(second.text).not.toContain('open');
    expect(second.text).not.toContain(first.body['id']);
    expect(own.status).toBe(200);
    // The same request again, as Orca repeats it.
    expect(await post(system, 'open', { headers: stranger, requestId })).toEqual(first);
    expect(await post(system, 'gated', { headers: owner, requestId: 'of-its-own' })).toEqual(own);
  });

  it('learns nothing of a task by the clientRequestId of another account', async () => {
    const { body } = await post(system, 'gated', { headers: owner, requestId: 'guessed' });
    const guess = await post(system, 'open', { headers: stranger, requestId: 'guessed' });
    const same = await post(system, 'gated', { headers: stranger, requestId: 'guessed' });

    expect(guess.status).toBe(400);
    expect(guess.text).not.toContain('gated');
    expect(guess.text).not.toContain(body['id']);
    expect(same).toMatchObject(denied);
  });

  it.each(['gated', 'legacy'])(
    'cannot cancel, end, resume or restart a task of the account %s',
    async (name) => {
      const { body } = await post(system, name, { headers: owner });
      const id = String(body['id']);
      const before = await readHistory(system, id);
      const attempts = (headers: Headers) => [
        call(system, `/kubernetes/task/${id}`, { method: 'PATCH', headers, body: { retry: false } }),
        call(system, `/task/${id}:resume`, { method: 'POST', headers, body: {} }),
        call(system, `/kubernetes/task/${id}/restart`, { method: 'POST', headers, body: deploy('open') }),
        call(system, `/task/${id}`, { headers }),
        call(system, `/task/${id}`, { method: 'DELETE', headers }),
        call(system, `/kubernetes/task/${id}/owner`, { headers }),
      ];

      for (const { status, body: refusal } of await Promise.all([...attempts(stranger), ...attempts({})])) {
        expect([status, refusal['message']]).toEqual([
          403,
          expect.stringMatching(`^Access denied to account ${name} - required authorization: (READ|WRITE)$`),
        ]);
      }
      expect(await readHistory(system, id)).toEqual(before);

      // Whose it is goes on as before.
      const path = `/kubernetes/task/${id}`;
      const ended = await call(system, path, { method: 'PATCH', headers: owner, body: { retry: true } });
      expect(ended.body).toMatchObject({ status: { failed: true, retryable: true } });
      const resumed = await call(system, `/task/${id}:resume`, { method: 'POST', headers: owner, body: {} });
      expect(resumed).toMatchObject({ status: 200, body: { id } });
      await call(system, path, { method: 'PATCH', headers: owner, body: { retry: true } });
      const restart = { method: 'POST', headers: owner, body: deploy(name) } as const;
      expect(await call(system, `${path}/restart`, restart)).toMatchObject({ status: 200, body: { id } });
    },
  );

  it('keeps a task of the account that it had when it is restarted with operations of another', async () => {
    const { body } = await post(system, 'gated', { headers: owner });
    const path = `/kubernetes/task/${body['id']}`;
    await call(system, path, { method: 'PATCH', headers: owner, body: { retry: true } });
    await call(system, `${path}/restart`, { method: 'POST', headers: owner, body: deploy('open') });

    expect(await call(system, `/task/${body['id']}`, { headers: stranger })).toMatchObject({ status: 403 });
  });

  it('sees only the running tasks of accounts that may be read', async () => {
    const gated = await post(system, 'gated', { headers: owner });
    const open = await post(system, 'open', { headers: stranger });
    const listIds = async (headers: Headers): Promise<unknown[]> => {
      const { body } = await call(system, '/task', { headers });
      return (body as unknown as { id: string }[]).map(({ id }) => id);
    };

    expect(await listIds(owner)).toEqual(expect.arrayContaining([gated.body['id'], open.body['id']]));
    const seen = await listIds(stranger);
    expect(seen).toContain(open.body['id']);
    expect(seen).not.toContain(gated.body['id']);
  });

  it('gains nothing by sending headers twice', async () => {
    const accounts = 'X-SPINNAKER-ACCOUNTS';
    const body = deploy('gated');
    const send = (...headers: string[]) =>
      callRaw(system, '/kubernetes/ops', { method: 'POST', headers, body });

    expect(await send(accounts, 'open', accounts, 'gated')).toMatchObject(denied);
    expect(await send(accounts, 'gated', accounts, 'gated')).toMatchObject(denied);
    expect(await send(accounts, 'gated', 'x-spinnaker-accounts', 'open')).toMatchObject(denied);
    expect(await send(accounts, 'gated')).toMatchObject({ status: 200 });
    // Nor does it speak for somebody else: of several users none counts.
    const user = 'X-SPINNAKER-USER';
    const accepted = await send(user, 'admin', user, 'eve', accounts, 'gated');
    expect(accepted.status).toBe(200);
    const find = async () => (await listAudit(system)).find(({ taskId }) => taskId === accepted.body['id']);
    await expect.poll(find).toMatchObject({ action: 'startOperations', outcome: 'allowed' });
    expect(await find()).not.toHaveProperty('user');
    const lines = (await system.readLog()).split('\n');
    const line = lines.find(
      (each) => each.includes('"task accepted"') && each.includes(`${accepted.body['id']}`),
    );
    expect(JSON.parse(line ?? '{}')).toMatchObject({ account: 'gated' });
    expect(JSON.parse(line ?? '{}')).not.toHaveProperty('user');
  });
});

describe('an account that the settings do not have any more', () => {
  it('leaves tasks that are as open as they were', async () => {
    await using attack = await startAttackSystem(toSettings(account));
    const { system } = attack;
    const open = await post(system, 'open', { headers: stranger });
    const gated = await post(system, 'gated', { headers: owner });
    await attack.configure({ kubernetes: { enabled: true, accounts: [{ ...account, name: 'other' }] } });
    await system.restart();
    const read = async (id: unknown, headers: Headers): Promise<number> =>
      (await call(system, `/task/${id}`, { headers })).status;

    expect(await read(open.body['id'], stranger)).toBe(200);
    expect(await read(open.body['id'], {})).toBe(200);
    expect(await read(gated.body['id'], stranger)).toBe(403);
    expect(await read(gated.body['id'], owner)).toBe(200);
    const patch = { method: 'PATCH', headers: stranger, body: { retry: false } } as const;
    expect((await call(system, `/kubernetes/task/${gated.body['id']}`, patch)).status).toBe(403);
  });
});

describe('permissions and requiredGroupMembership', () => {
  /** What is configured, what Gate and Fiat are shown, and for members of which groups Gate lists it. */
  const cases: readonly [string, JsonObject, JsonObject, readonly string[]][] = [
    ['none', {}, { requiredGroupMembership: [] }, ['a', 'b', 'none']],
    ['only permissions', { permissions: { READ: ['a'], WRITE: ['b'] } }, shown(['a'], ['b']), ['b']],
    ['only groups', { requiredGroupMembership: ['A'] }, { ...shown(['a'], ['a']), ...legacy('A') }, ['a']],
    ['both', given({ READ: ['a', 'b'], WRITE: ['a', 'b'] }, 'a'), shown(['a'], ['a']), ['a']],
    ['both apart', given({ READ: ['b'], WRITE: ['b'] }, 'a'), shown(['(nobody)'], ['(nobody)']), []],
    ['only READ', { permissions: { READ: ['a'] } }, { permissions: { READ: ['a'] }, ...legacy() }, []],
  ];

  it('both hold: none opens to Gate or Fiat what the other closes', async () => {
    const accounts = cases.map(([name, access]) => ({ ...account, ...access, name }));
    await using attack = await startAttackSystem({ kubernetes: { enabled: true, accounts } });
    const { body } = await call(attack.system, '/credentials');
    const views = body as unknown as readonly CredentialsView[];

    for (const [name, , expected, groups] of cases) {
      const view = views.find((each) => each.name === name);
      const { permissions, requiredGroupMembership } = view ?? {};
      const seen = { ...(permissions && { permissions }), requiredGroupMembership };
      expect([name, seen]).toEqual([name, expected]);
      expect([name, ['a', 'b', 'none'].filter((group) => isListed(view, group))]).toEqual([name, groups]);
    }
    for (const name of cases.slice(1).map(([each]) => each)) {
      const { status } = await post(attack.system, name, { headers: { 'X-SPINNAKER-ACCOUNTS': 'none' } });
      expect([name, status]).toEqual([name, 400]);
    }
  });
});

describe('busdriver.authorization.reads: off', () => {
  it('opens reads, and nothing else', async () => {
    const settings = toSettings(account, { authorization: { reads: 'off' } });
    await using attack = await startAttackSystem(settings);
    const { system } = attack;
    const { body } = await post(system, 'gated', { headers: owner });
    const path = `/kubernetes/task/${body['id']}`;
    const status = async (...args: Parameters<typeof call> extends [unknown, ...infer R] ? R : never) =>
      (await call(system, ...args)).status;

    expect(await status(`/task/${body['id']}`, { headers: stranger })).toBe(200);
    expect(await status('/securityGroups/gated', { headers: stranger })).toBe(200);
    expect(await post(system, 'gated', { headers: stranger })).toMatchObject(denied);
    expect(await status(path, { method: 'PATCH', headers: stranger, body: { retry: true } })).toBe(403);
    const restart = { method: 'POST', headers: stranger, body: deploy('open') } as const;
    expect(await status(`${path}/restart`, restart)).toBe(403);
    expect(await status(`/task/${body['id']}:resume`, { ...restart, body: {} })).toBe(403);
    const job = '/applications/a/jobs/gated/default/job%20a';
    expect(await status(job, { method: 'DELETE', headers: stranger })).toBe(403);
    expect(await status('/credentials/gated/authorized', { headers: stranger })).toBe(403);
  });

  it('must be written as it is meant', async () => {
    const settings = toSettings(account, { authorization: { reads: 'of' } });

    await expect(startAttackSystem(settings)).rejects.toThrow(
      /busdriver\.authorization\.reads: expected on or off/,
    );
  });
});

interface CredentialsView {
  readonly name: string;
  readonly permissions?: { readonly WRITE?: readonly string[] };
  readonly requiredGroupMembership: readonly string[];
}

/** Gate's rule without Fiat: accounts without permissions, and those of whose WRITE groups the user has one. */
function isListed(view: CredentialsView | undefined, group: string): boolean {
  const { permissions } = view ?? {};
  if (permissions === undefined || Object.keys(permissions).length === 0) return true;
  return (permissions.WRITE ?? []).map((name) => name.toLowerCase()).includes(group);
}

function shown(read: string[], write: string[]): JsonObject {
  return { permissions: { READ: read, WRITE: write }, ...legacy() };
}

function legacy(...groups: string[]): JsonObject {
  return { requiredGroupMembership: groups };
}

function given(permissions: JsonObject, group: string): JsonObject {
  return { permissions, requiredGroupMembership: [group] };
}

async function readHistory(system: System, id: string): Promise<unknown> {
  const { body } = await call(system, `/task/${id}`, { headers: owner });
  return [body['history'], body['resultObjects'], body['retryable']];
}
