import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CertificateAuthority,
  type CertificateSubject,
  type Identity,
} from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { openAgentFunctions } from '#test/support/agents/agent-functions.ts';
import {
  type AgentProcess,
  createTokenSigner,
  runAgentProgram,
  type TokenClaims,
  type TokenSigner,
  toAgentAccount,
} from '#test/support/agents/agent-process.ts';
import { startWorld, type World } from '#test/support/agents/agent-world.ts';
import { connectForHints } from '#test/support/agents/hint-socket.ts';
import { type IamGateway, startIamGateway } from '#test/support/agents/iam-gateway.ts';
import { type JwksServer, startJwksServer } from '#test/support/agents/jwks-server.ts';
import {
  callRaw,
  getGrants,
  type RawAgent,
  type RawAnswer,
  sayHello,
  toHello,
  toRawAgent,
} from '#test/support/agents/raw-agent.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { createCaller, paths, toAgent } from '#test/support/services/dynamic-accounts.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';

const stack = new AsyncDisposableStack();
let dir: TempDir;
/** Of the accounts `edge` and `other`, and of none. */
const [signer, forger] = [await createTokenSigner(), await createTokenSigner()];
const other = await createTokenSigner('system:serviceaccount:other:agent');

beforeAll(async () => {
  dir = stack.use(await makeTempDir());
});
afterAll(() => stack.disposeAsync());

async function write(name: string, text: string): Promise<string> {
  const file = path.join(dir.path, name);
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

/** Runs an agent's program with a configuration that names no ports. */
async function run(
  config: { readonly busdriver: object; readonly clouddriver?: object },
  {
    args = [],
    environment = {},
  }: { readonly args?: readonly string[]; readonly environment?: NodeJS.ProcessEnv } = {},
): Promise<AgentProcess> {
  const kubernetes = { accounts: [{ name: 'edge', kubeConfigFile: 'kubeconfig' }] };
  const ports = { server: { port: 0 }, prometheus: { port: 0 } };
  const file = await write('busdriver-agent.yaml', JSON.stringify({ ...config, kubernetes, ...ports }));
  return runAgentProgram(['--config', file, ...args], { environment });
}

describe('tokens', () => {
  /** Who calls the API has this one. */
  const secret = 'a-token-of-people-1234567890';
  let keys: JwksServer;
  let world: World;
  beforeAll(async () => {
    keys = stack.use(await startJwksServer());
    keys.serve(signer.jwks.keys);
    const { issuer, subject } = signer;
    const toKeyed = (name: string, jwksUri: string) => ({
      ...{ name, agent: { auth: { type: 'serviceAccount', issuer, subject, jwksUri } } },
    });
    const accounts = [
      ...['edge', toAgentAccount('other', other)],
      ...[toKeyed('keyed', keys.url), toKeyed('elsewhere', 'https://keys.example.com/jwks')],
    ];
    world = stack.use(
      await startWorld(accounts, {
        signer,
        args: ['--token-file', await write('token', secret)],
        agents: { jwksHosts: [new URL(keys.url).host] },
        env: { NODE_EXTRA_CA_CERTS: await write('ca.crt', keys.authority) },
      }),
    );
  });

  const open = (token: string, ...accounts: readonly string[]): Promise<RawAnswer> =>
    sayHello(world.system.url, token, { agentId: 'test', accounts });
  const post = async (account: string): Promise<string> => {
    const body = [toDeploy(account, 'default', ['x'])];
    const call = { method: 'POST', target: '/kubernetes/ops', token: secret, body };
    return String((await callRaw(world.system.url, call)).body['id']);
  };
  const look = (token: string): Promise<RawAnswer> =>
    callRaw(world.system.url, { method: 'GET', target: '/credentials', token });
  const take = (task: string, token: string): Promise<RawAnswer> =>
    toRawAgent(world.system.url, { body: { session: '', token } }).take(task);

  test.each<[string, Pick<TokenSigner, 'sign'>, TokenClaims]>([
    ['a forged signature', forger, {}],
    ['another audience', signer, { audience: 'https://kubernetes.default.svc' }],
    ['a token of the past', signer, { lifeSeconds: -120 }],
    ['another issuer', signer, { issuer: 'https://elsewhere.example' }],
    ['another service account', signer, { subject: 'system:serviceaccount:busdriver:default' }],
    ['that of who calls the API', { sign: async () => secret }, {}],
  ])('let nobody in with %s', async (_what, by, claims) => {
    expect(await open(await by.sign(claims), 'edge')).toMatchObject({
      status: 401,
      body: { message: 'The token proves the agent of none of these accounts' },
    });
  });

  test('tell of accounts that are none of the agent nothing but that', async () => {
    const welcome = await open(await signer.sign(), 'edge', 'other', 'no-such');
    expect(welcome.status).toBe(200);
    expect(JSON.stringify(welcome.body)).not.toContain('other:agent');
    const grants = getGrants(welcome);
    expect(grants.map(({ name, operations }) => [name, operations])).toEqual([
      ['edge', true],
      ['other', false],
      ['no-such', false],
    ]);
    expect(grants[1]?.refused).toBe(grants[2]?.refused?.replace('no-such', 'other'));
  });

  test('open a session for tasks of its accounts, as long as it is open', async () => {
    const { url } = world.system;
    const agent = toRawAgent(url, await open(await signer.sign(), 'edge', 'other'));
    const stranger = toRawAgent(url, await open(await other.sign(), 'other'));
    const [own, foreign] = [await post('edge'), await post('other')];
    expect(await agent.listWork()).toEqual([{ kind: 'TASK', account: 'edge', id: own }]);
    expect((await agent.take(foreign)).status).toBe(403);
    expect((await agent.take('no-such-task')).status).toBe(403);
    expect((await take(own, await signer.sign())).status).toBe(401);
    expect((await take(own, `${agent.token.slice(0, -4)}AAAA`)).status).toBe(401);
    const taken = await agent.take(own);
    expect(taken.status).toBe(200);
    expect((await agent.take(own)).body).toMatchObject({ status: 409, reason: 'held' });

    const commit = async ({ commit }: RawAgent) =>
      (await commit(own, { lease: taken.body['lease'], next: 'release', entries: [] })).status;
    expect(await commit(stranger)).toBe(403);
    const work = `/agent/v1/sessions/${agent.session}/work`;
    expect((await stranger.call('GET', work)).status).toBe(403);
    expect((await agent.close()).status).toBe(204);
    const ended = [await commit(agent), (await agent.look()).status, (await agent.take(own)).status];
    expect(ended).toEqual([401, 401, 401]);
    expect(await world.system.readLog()).not.toContain(agent.token);
  });

  test('of sessions open nothing but what is for agents, and what agents say is looked at', async () => {
    const welcome = await open(await signer.sign(), 'edge');
    const token = String(welcome.body['token']);
    expect((await look(token)).status).toBe(401);
    expect((await look(secret)).status).toBe(200);
    const say = async (part: object) =>
      sayHello(world.system.url, await signer.sign(), { agentId: 'test', accounts: ['edge'], ...part });
    expect(await say({ agentId: 'a@b' })).toMatchObject({
      status: 400,
      body: { errors: ['agentId: expected letters, digits, dots, dashes and underscores'] },
    });
    const later = await say({ journalFormat: 2 });
    expect(getGrants(later)).toMatchObject([{ name: 'edge', operations: false }]);
    // Who asks for a task all the same would take its journal for something else.
    const task = await post('edge');
    const refused = await take(task, String(later.body['token']));
    expect(refused.body).toMatchObject({ status: 409, reason: 'journal-format' });
    expect((await take(task, token)).status).toBe(200);
  });

  test('are verified by keys that are fetched, from hosts that the settings name, whose certificates the machine trusts', async () => {
    const { body } = await look(secret);
    const shown = body as unknown as readonly { readonly name: string }[];
    expect(shown.map(({ name }) => name).toSorted()).toEqual(['edge', 'keyed', 'other']);
    expect(world.system.stderr).toContain(
      'kubernetes.accounts[3].agent.auth.jwksUri: expected a host that busdriver.agents.jwksHosts names, not keys.example.com',
    );
    const statuses = [];
    for (const by of [signer, forger, signer]) statuses.push((await open(await by.sign(), 'keyed')).status);
    expect(statuses).toEqual([200, 401, 200]);
    expect(keys.requests).toBe(1);
  });
});

describe('where they are not served', () => {
  let world: World;
  beforeAll(async () => {
    world = stack.use(await startWorld(['edge'], { signer, agents: { enabled: false } }));
  });

  test('accounts have no agents, and who says that is told', async () => {
    expect(world.system.accounts).toEqual([]);
    expect(world.system.stderr).toContain(
      'kubernetes.accounts[0].agent: agents are served where busdriver.agents.enabled is true',
    );
    const caller = createCaller(world.system.url);
    const unserved = 'Agents are not served here: busdriver.agents.enabled is not true';
    const created = { name: 'edge', agent: toAgent(signer) };
    expect(await caller('POST', paths.dynamic, created)).toEqual([404, unserved]);
    expect(await caller('PATCH', paths.accounts, [{ name: 'edge', state: 'ACTIVE' }])).toEqual([
      404,
      unserved,
    ]);
  });

  test('nobody has a session or connects, and other upgrades are requests like any', async () => {
    const { url } = world.system;
    const target = '/agent/v1/sessions';
    expect(
      (await callRaw(url, { method: 'POST', target, token: await signer.sign(), body: {} })).status,
    ).toBe(404);
    await expect(connectForHints(url, 'any')).rejects.toThrow('404');
    const { host, port } = new URL(url);
    const head = `GET /health HTTP/1.1\r\nhost: ${host}\r\nconnection: Upgrade, close\r\nupgrade: h2c\r\n\r\n`;
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(head);
    expect(String(Buffer.concat(await socket.toArray()))).toMatch(/^HTTP\/1\.1 200 [\s\S]*"UP"/);
  });
});

describe('certificates', () => {
  const servers = new CertificateAuthority('servers');
  const clients = new CertificateAuthority('clients');
  const acme: CertificateSubject = { commonName: '', parts: [{ CN: 'edge-7' }, { O: 'Acme' }] };
  let world: World;
  beforeAll(async () => {
    const server = servers.issue({ commonName: 'busdriver', hosts: ['127.0.0.1'] });
    const files = await Promise.all([
      write('server.crt', server.certificate),
      write('server.key', server.key),
      write('clients.crt', clients.certificate),
      write('servers.crt', servers.certificate),
    ]);
    const auth = { type: 'certificate', subjects: ['CN=edge-7,O=Acme'] };
    const roleArns = ['arn:aws:iam::111122223333:role/edge-9'];
    const accounts = [
      { name: 'edge', agent: { auth } },
      { name: 'role', agent: { auth: { type: 'iam', roleArns } } },
    ];
    const flags = ['--tls-cert', '--tls-key', '--tls-client-ca'];
    const args = flags.flatMap((flag, index) => [flag, files[index] ?? '']);
    world = stack.use(await startWorld(accounts, { args }));
  });

  /** Posts a hello over a connection of its own. @throws Error where there is no connection */
  async function open(shown: Identity | undefined, target = '/agent/v1/sessions') {
    const agent = new Agent({
      ca: servers.certificate,
      ...(shown && { cert: shown.certificate, key: shown.key }),
    });
    const sent = request(new URL(target, world.system.url), {
      ...{ agent, method: 'POST', headers: { 'content-type': 'application/json' } },
    });
    sent.end(JSON.stringify(toHello({ agentId: 'test', accounts: ['edge'] })));
    try {
      const [answer] = await once(sent, 'response');
      const pieces: Buffer[] = await answer.toArray();
      return { status: answer.statusCode, body: JSON.parse(String(Buffer.concat(pieces))) as unknown };
    } finally {
      agent.destroy();
    }
  }

  test('of an account open a session', async () => {
    expect(await open(clients.issue(acme))).toMatchObject({
      status: 200,
      body: { accounts: [{ name: 'edge', operations: true }] },
    });
  });

  test.each<[string, CertificateSubject]>([
    ['another subject', { commonName: '', parts: [{ CN: 'edge-8' }, { O: 'Acme' }] }],
    ['another order', { commonName: '', parts: [{ O: 'Acme' }, { CN: 'edge-7' }] }],
    ['a name that reads as two', { commonName: 'edge-7,O=Acme' }],
  ])('with %s open none', async (_what, subject) => {
    expect(await open(clients.issue(subject))).toMatchObject({
      status: 401,
      body: { message: 'The certificate proves the agent of none of these accounts' },
    });
  });

  test.each<[string, () => Identity | undefined]>([
    ['of somebody else', () => new CertificateAuthority('clients').issue(acme)],
    ['that are over', () => clients.issue({ ...acme, expired: true })],
    ['that are none', () => undefined],
  ])('%s get no connection', async (_what, issue) => {
    await expect(open(issue())).rejects.toThrow(/alert|ECONNRESET|socket/i);
  });

  test('are asked for, and roles are not believed, for nobody checks signatures here', async () => {
    expect(await open(clients.issue(acme), '/agent/v1/iam-sessions')).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('Nobody has checked a signature of IAM here') },
    });
  });

  test('of an agent that has no token connect it, once its files hold one that is believed', async () => {
    const renew = ({ certificate, key }: Identity) =>
      Promise.all([write('agent.crt', certificate), write('agent.key', key)]);
    await renew(clients.issue({ ...acme, expired: true }));
    await using agent = await run({
      busdriver: { url: world.system.url, caFile: 'servers.crt' },
      clouddriver: { tls: { clientCertFile: 'agent.crt', clientKeyFile: 'agent.key' } },
    });
    await agent.untilLogged('no session with Busdriver');
    await renew(clients.issue(acme));
    await agent.untilLogged('"session with Busdriver"');
  });
});

describe('roles of IAM', () => {
  const region = 'eu-west-1';
  const caller = {
    accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    sessionToken: 'a-session-of-the-role',
    userArn: 'arn:aws:sts::111122223333:assumed-role/edge-9/busdriver-agent',
  };
  const own = {
    AWS_ACCESS_KEY_ID: caller.accessKeyId,
    AWS_SECRET_ACCESS_KEY: caller.secretAccessKey,
    AWS_SESSION_TOKEN: caller.sessionToken,
  };
  let gateway: IamGateway;
  beforeAll(async () => {
    const roleArns = ['arn:aws:iam::111122223333:role/agents/edge-9'];
    const account = { name: 'edge', agent: { auth: { type: 'iam', roleArns } } };
    const functions = stack.use(await openAgentFunctions([account]));
    gateway = stack.use(await startIamGateway(caller, { ...functions, region }));
  });

  const start = (credentials: { readonly [name: string]: string }, ...args: readonly string[]) => {
    const none = { AWS_PROFILE: '', AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
    const environment = { ...none, AWS_EC2_METADATA_DISABLED: 'true', ...credentials };
    return run({ busdriver: { url: gateway.url, auth: 'iam', region } }, { args, environment });
  };

  test('sign for an agent by what its environment has, and let it in', async () => {
    await using agent = await start(own);
    await agent.untilLogged('"session with Busdriver"');
    expect(agent.log).not.toContain(caller.secretAccessKey);
    expect(agent.log).not.toContain(caller.sessionToken);
  });

  test.each([
    [
      'another secret',
      { ...own, AWS_SECRET_ACCESS_KEY: 'x'.repeat(40) },
      'Busdriver answered 403: Forbidden',
    ],
    ['no credentials', {}, 'no AWS credentials were found'],
  ])('let nobody in with %s, who says why', async (_what, credentials, reason) => {
    await using agent = await start(credentials);
    await agent.untilLogged(reason);
    expect(agent.log).not.toContain('"session with Busdriver"');
  });

  test('are told of by --check', async () => {
    await using agent = await start(own, '--check');
    await agent.exited;
    expect(agent.log).toContain('none: a role of IAM proves who the agent is');
  });
});
