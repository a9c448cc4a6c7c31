import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredAccount } from '#accounts/model/account-store.ts';
import type { ConnectionFunction } from '#agents/http/agent-connection.ts';
import { getAgentHealth } from '#agents/services/agent-health.ts';
import { askAgent } from '#agents/services/ask-agent.ts';
import { endFormerAgents } from '#agents/services/former-agents.ts';
import { openLiveReads } from '#agents/services/live-reads.ts';
import { bindHintPort } from '#agents/sessions/hint-port.ts';
import { openCachingAgentStore } from '#caching/services/caching-agent-store.ts';
import { agentRoutes, connectionRows } from '#functions/agent-routes.ts';
import type { ApiFunction } from '#http/api-function.ts';
import { openBase } from '#platform/services/base.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { root } from '#test/architecture/source-files.ts';
import { type AgentFunctions, openAgentFunctions } from '#test/support/agents/agent-functions.ts';
import { createTokenSigner, type TokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { newAgent } from '#test/support/agents/agent-system.ts';
import { type ItemCall, recordItemCalls } from '#test/support/agents/recorded-items.ts';
import { getFunctionStatements, type Statement } from './policies.ts';
import { privateOptions, synthesize } from './synthesize.ts';

const statements = getFunctionStatements(synthesize({ ...privateOptions, agents: true }).values());
const modules = [...agentRoutes, ...connectionRows].map(({ module }) => module);

/** Functions that look for agents of accounts, and that change accounts. */
const lookers = ['get-account-health', 'list-credentials', 'get-account-agents', 'list-account-agents'];
const changers = ['delete-account', 'save-account', 'update-account', 'delete-accounts', 'save-provider'];

/** Those of them that strangers of the internet call and that have nothing to do with tasks. */
const withoutTasks = modules.filter((module) => !/\/(list-work|(take|renew|commit)-task)$/.test(module));

function listTaskStatements(name: string): readonly Statement[] {
  const all = statements.get(name);
  if (all === undefined) throw new Error(`no function ${name}`);
  return all.filter(
    ({ effect, resources }) =>
      effect === 'Allow' && resources.some((one) => one.includes('table/busdriver-dev-tasks')),
  );
}

function isAllowed(name: string, { action, partition }: ItemCall): boolean {
  return listTaskStatements(name).some(
    ({ actions, leadingKeys = ['*'] }) =>
      actions.includes(action) && leadingKeys.some((pattern) => fits(pattern, partition)),
  );
}

function fits(pattern: string, text: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}

describe('functions that agents call, and so strangers', () => {
  it('reach no task where they have nothing to do with tasks', () => {
    expect(withoutTasks.length).toBeGreaterThan(12);
    const reaching = withoutTasks.filter((module) => {
      const name = module.split('/').at(-1) ?? '';
      const partitions = ['TASK#1', 'OPEN#1', 'INBOX#edge', 'AGENTTASKS#2026-01-01'];
      const actions = ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'];
      return partitions.some((partition) =>
        actions.some((action) => isAllowed(name, { action: `dynamodb:${action}`, partition })),
      );
    });
    expect(reaching).toEqual([]);
  });

  it('change no task but where they run tasks', () => {
    const call = { action: 'dynamodb:UpdateItem', partition: 'TASK#1' };
    const changing = modules.filter((module) => isAllowed(module.split('/').at(-1) ?? '', call));
    expect(changing.sort()).toEqual(['agents/commit-task', 'agents/renew-task', 'agents/take-task']);
  });
});

const stack = new AsyncDisposableStack();
const role = 'arn:aws:iam::111122223333:role/edge-9';
let signer: TokenSigner;
let functions: AgentFunctions;
let calls: ItemCall[];
let token = '';
let session = '';

beforeAll(async () => {
  signer = await createTokenSigner();
  functions = stack.use(
    await openAgentFunctions([
      toAgentAccount('edge', signer),
      { name: 'by-role', agent: { auth: { type: 'iam', roleArns: [role] } } },
    ]),
  );
  calls = recordItemCalls(functions.tables, 'tasks');
  bindHintPort(functions.services, { url: 'wss://hints', post: async () => 'gone' });
});
afterAll(() => stack.disposeAsync());

interface Call {
  readonly values?: { readonly [name: string]: string };
  readonly body?: object;
  readonly bearer?: string;
  readonly signer?: string;
}

/** Calls the function of a route of agents, as API Gateway does. */
async function ask(route: string, { values = {}, body, bearer = token, ...given }: Call) {
  const row = agentRoutes.find(({ method, path }) => `${method} ${path}` === route);
  if (row === undefined) throw new Error(`no route ${route}`);
  const { handler } = (await import(join(root, 'functions', `${row.module}.ts`))) as { handler: ApiFunction };
  const run = handler.withServices(functions.services) as (...args: object[]) => Promise<unknown>;
  const { method, path } = row;
  const event = {
    ...{ version: '2.0', routeKey: route, rawPath: path, rawQueryString: 'kind=pod', pathParameters: values },
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
    ...(body && { body: JSON.stringify(body) }),
    requestContext: {
      ...{ requestId: 'id', stage: '$default', http: { method, path, sourceIp: '192.0.2.1' } },
      ...(given.signer && { authorizer: { iam: { userArn: given.signer } } }),
    },
  };
  const answer = await run(event, { functionName: 'f', awsRequestId: 'id' });
  const { statusCode, body: text } = answer as { statusCode: number; body: string };
  expect([route, text, statusCode < 300]).toEqual([route, text, true]);
  return text === '' ? {} : JSON.parse(text);
}

/** What was asked since the last time that the role of a function does not allow. */
function takeDenied(module: string): readonly string[] {
  const name = module.split('/').at(-1) ?? '';
  const taken = calls.splice(0);
  expect([module, taken.length > 0]).toEqual([module, true]);
  return taken.filter((call) => !isAllowed(name, call)).map((call) => `${name}: ${JSON.stringify(call)}`);
}

async function connect(module: 'connect-agent' | 'disconnect-agent', connectionId: string): Promise<void> {
  const { handler } = (await import(join(root, 'functions', 'agents', `${module}.ts`))) as {
    handler: ConnectionFunction;
  };
  const requestContext = { connectionId, authorizer: { session } };
  expect((await handler.withServices(functions.services)({ requestContext })).statusCode).toBe(200);
}

const toHello = (name: string) => ({
  ...{ agentId: 'pod', version: '1', protocol: 1, journalFormat: 1 },
  accounts: [{ name, clusterUid: 'uid' }],
});
describe('what functions ask of the table of tasks for agents', () => {
  it('their roles allow: sessions, connections and reads', async () => {
    const denied: string[] = [];
    const opened = await ask('POST /agent/v1/sessions', {
      body: toHello('edge'),
      bearer: await signer.sign(),
    });
    token = opened.token;
    session = opened.session;
    denied.push(...takeDenied('open-session'));
    const signed = 'arn:aws:sts::111122223333:assumed-role/edge-9/x';
    await ask('POST /agent/v1/iam-sessions', { body: toHello('by-role'), signer: signed });
    denied.push(...takeDenied('open-iam-session'));
    await connect('connect-agent', 'one');
    denied.push(...takeDenied('connect-agent'));
    const read = { ...{ id: 'r1', account: 'edge', method: 'manifests.get', args: '{}' }, waiter: undefined };
    const reads = openLiveReads(functions.services);
    await reads.add({ ...read, acceptedAtMs: Date.now() });
    await reads.add({ ...read, id: 'old', acceptedAtMs: Date.now() - 600_000 });
    calls.splice(0);
    const values = { session, read: 'r1' };
    expect((await ask('GET /agent/v1/sessions/{session}/work', { values })).work).toHaveLength(1);
    denied.push(...takeDenied('list-work'));
    const { take } = await ask('POST /agent/v1/reads/{read}/lease', { values, body: {} });
    denied.push(...takeDenied('take-read'));
    const part = { take, part: 0, last: false, data: Buffer.from('x').toString('base64') };
    await ask('PUT /agent/v1/reads/{read}/answer', { values, body: part });
    await ask('PUT /agent/v1/reads/{read}/answer', { values, body: { ...part, part: 1, last: true } });
    denied.push(...takeDenied('answer-read'));
    await ask('POST /agent/v1/sessions/{session}', { values, body: { journalFormat: 1 } });
    denied.push(...takeDenied('renew-session'));
    await connect('disconnect-agent', 'one');
    denied.push(...takeDenied('disconnect-agent'));
    expect(denied).toEqual([]);
  });

  it('their roles allow: what is cached', async () => {
    const denied: string[] = [];
    const epoch = Math.floor(Date.now() / 60_000);
    const account = '/agent/v1/caches/{account}';
    const asked: readonly (readonly [module: string, route: string, body?: object])[] = [
      ['claim-cache', `POST ${account}/claims`, { agent: 'core' }],
      ['raise-epoch', `PUT ${account}/epoch`, { epoch, cluster: 'uid' }],
      ['read-epoch', `GET ${account}/epoch`],
      ['list-heads', `GET ${account}/heads`],
      ['prune-applications', `POST ${account}/prunes`, { applications: ['shop'] }],
    ];
    await connect('connect-agent', 'two');
    await openCachingAgentStore(functions.services).agents.sync([
      newAgent({ account: 'edge', name: 'core' }),
    ]);
    calls.splice(0);
    let lease = {};
    for (const [module, route, body] of asked) {
      const answer = await ask(route, { values: { account: 'edge' }, ...(body && { body }) });
      if (module === 'claim-cache') lease = answer.lease;
      denied.push(...takeDenied(module));
    }
    const end = { outcome: 'STOPPED', durationMs: 1, nextRunInMs: 0 };
    await ask(`PUT ${account}/claims`, { values: { account: 'edge' }, body: { agent: 'core', lease, end } });
    denied.push(...takeDenied('keep-cache'));
    expect(denied).toEqual([]);
  });

  it('their roles allow: ends, and who looks for agents', async () => {
    const denied: string[] = [];
    const close = () => ask('DELETE /agent/v1/sessions/{session}', { values: { session } });
    const reopen = async (): Promise<void> => {
      ({ session, token } = await ask('POST /agent/v1/sessions', {
        ...{ body: toHello('edge'), bearer: await signer.sign() },
      }));
      await connect('connect-agent', 'next');
      calls.splice(0);
    };
    await connect('connect-agent', 'three');
    calls.splice(0);
    await close();
    denied.push(...takeDenied('close-session'));
    await reopen();
    const { providers } = await openProviders(functions.services);
    await getAgentHealth(functions.services, providers.getAccount('edge'));
    const health = calls.splice(0);
    for (const name of lookers) {
      calls.push(...health);
      denied.push(...takeDenied(name));
    }
    await close();
    await reopen();
    const read = { account: 'edge', method: 'manifests.get', args: {}, signal: AbortSignal.timeout(500) };
    await askAgent(functions.services, read).catch(() => undefined);
    denied.push(...takeDenied('get-manifest'));
    const before: StoredAccount = {
      ...{ name: 'edge', type: 'kubernetes', body: { name: 'edge', agent: {} } },
      ...{ revision: 1, createdAtMs: 0, modifiedAtMs: 0, modifiedBy: undefined, origin: 'agents' },
    };
    const base = openBase(functions.services);
    await (await endFormerAgents(base, { before, after: undefined, by: 'ada' }))?.();
    const ended = calls.splice(0);
    for (const name of changers) {
      calls.push(...ended);
      denied.push(...takeDenied(name));
    }
    expect(denied).toEqual([]);
  });
});
