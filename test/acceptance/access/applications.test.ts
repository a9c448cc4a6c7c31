import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fiat, startFiat } from '#test/support/services/fiat.ts';
import type { System } from '#test/support/system/system.ts';
import {
  type Answered,
  type AttackSystem,
  call,
  deploy,
  listAudit,
  type SilentServer,
  startAttackSystem,
  startSilentServer,
  toSettings,
} from './attack-system.ts';

const stack = new AsyncDisposableStack();
const all = ['READ', 'WRITE'] as const;
const denial = 'Access denied to application a';
const loadLine = 'rights on applications are only reported';

let server: SilentServer;
let fiat: Fiat;

beforeAll(async () => {
  server = stack.use(await startSilentServer());
  // May write to the account, but not to the application `a` of the operations.
  const dev = { accounts: { open: all }, applications: { a: ['READ'], own: all } } as const;
  fiat = stack.use(await startFiat({ users: { dev, root: { admin: true } } }));
});
afterAll(() => stack.disposeAsync());

async function start(busdriver: { readonly checkApplication?: string }): Promise<AttackSystem> {
  const account = { kubeconfigContents: server.kubeconfig, namespaces: ['default'] };
  const services = { fiat: { enabled: true, baseUrl: fiat.url } };
  return startAttackSystem({ ...toSettings(account, busdriver), services });
}

function post(system: System, user: string, body: readonly object[] = deploy('open')): Promise<Answered> {
  const headers = { 'X-SPINNAKER-USER': user, 'X-SPINNAKER-REQUEST-ID': user };
  return call(system, '/kubernetes/ops', { method: 'POST', headers, body });
}

async function listTasks(system: System): Promise<unknown> {
  return (await call(system, '/task', { headers: { 'X-SPINNAKER-USER': 'root' } })).body;
}

/** The audit line of what `dev` posted. */
async function findAudit(system: System) {
  const find = async () => (await listAudit(system)).find(({ user }) => user === 'dev');
  await expect.poll(find).toBeDefined();
  return find();
}

describe('an operation on an application that the caller may not write to', () => {
  it('is refused under enforce, and nothing is stored', async () => {
    await using attack = await start({ checkApplication: 'enforce' });
    const { system } = attack;

    const answer = await post(system, 'dev');
    expect(answer).toMatchObject({ status: 400, body: { message: 'Validation Failed', errors: [denial] } });
    expect(await listTasks(system)).toEqual([]);
    expect(await findAudit(system)).toMatchObject({
      ...{ action: 'startOperations', outcome: 'refused', status: 400, reason: denial },
      ...{ account: 'open', operations: ['deployManifest'] },
    });
    expect(system.stderr).not.toContain(loadLine);

    expect((await post(system, 'root')).status).toBe(200);
    const own = deploy('open').map((operation) =>
      JSON.parse(JSON.stringify(operation).replace('"app":"a"', '"app":"own"')),
    );
    expect((await post(system, 'dev', own)).status).toBe(200);
  });

  it.each([{}, { checkApplication: 'report' }])(
    'runs under %j, and the audit has what enforce would refuse',
    async (busdriver) => {
      await using attack = await start(busdriver);
      const { system } = attack;

      expect((await post(system, 'dev')).status).toBe(200);
      expect(await listTasks(system)).toHaveLength(1);
      expect(await findAudit(system)).toMatchObject({
        outcome: 'allowed',
        status: 200,
        wouldRefuse: [denial],
      });
      expect(system.stderr.split(loadLine)).toHaveLength(2);
    },
  );

  it('runs under off, and nothing is said of it', async () => {
    await using attack = await start({ checkApplication: 'off' });
    const { system } = attack;

    expect((await post(system, 'dev')).status).toBe(200);
    expect(await findAudit(system)).not.toHaveProperty('wouldRefuse');
    expect(system.stderr).not.toContain(loadLine);
  });
});
