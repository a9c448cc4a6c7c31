import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CertificateAuthority,
  type CertificateSubject,
  type Identity,
} from '../../shared/providers/kubernetes/credentials/certificates.ts';
import { runAgentProgram } from '../../support/agents/agent-process.ts';
import { startWorld, type World } from '../../support/agents/agent-world.ts';
import { makeTempDir, type TempDir } from '../../support/run/temp-dir.ts';

const testMs = 120_000;
const servers = new CertificateAuthority('servers');
const clients = new CertificateAuthority('clients');
const acme: CertificateSubject = { commonName: '', parts: [{ CN: 'edge-7' }, { O: 'Acme' }] };
const stack = new AsyncDisposableStack();
let dir: TempDir;
let world: World;

beforeAll(async () => {
  dir = stack.use(await makeTempDir());
  const server = servers.issue({ commonName: 'busdriver', hosts: ['127.0.0.1'] });
  const [cert, key, clientCa] = await Promise.all([
    write('server.crt', server.certificate),
    write('server.key', server.key),
    write('clients.crt', clients.certificate),
  ]);
  await write('servers.crt', servers.certificate);
  const auth = { type: 'certificate', subjects: ['CN=edge-7,O=Acme'] };
  const roleArns = ['arn:aws:iam::111122223333:role/edge-9'];
  world = stack.use(
    await startWorld(
      [
        { name: 'edge', agent: { auth } },
        { name: 'role', agent: { auth: { type: 'iam', roleArns } } },
      ],
      ['--tls-cert', cert, '--tls-key', key, '--tls-client-ca', clientCa],
    ),
  );
}, testMs);
afterAll(() => stack.disposeAsync());

async function write(name: string, text: string): Promise<string> {
  const file = path.join(dir.path, name);
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly [name: string]: unknown };
}

/** Posts a hello over a connection of its own. @throws Error where there is no connection */
async function open(shown: Identity | undefined, target = '/agent/v1/sessions'): Promise<Answer> {
  const hello = {
    ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
    accounts: [{ name: 'edge' }],
  };
  const agent = new Agent({
    ca: servers.certificate,
    ...(shown && { cert: shown.certificate, key: shown.key }),
  });
  const sent = request(new URL(target, world.system.url), {
    ...{ agent, method: 'POST', headers: { 'content-type': 'application/json' } },
  });
  sent.end(JSON.stringify(hello));
  try {
    const [answer] = await once(sent, 'response');
    const pieces: Buffer[] = await answer.toArray();
    return { status: answer.statusCode, body: JSON.parse(Buffer.concat(pieces).toString('utf8')) };
  } finally {
    agent.destroy();
  }
}

test(
  'who shows the certificate of an account has a session',
  async () => {
    expect(await open(clients.issue(acme))).toMatchObject({
      status: 200,
      body: { accounts: [{ name: 'edge', operations: true }] },
    });
  },
  testMs,
);

test.each<[string, CertificateSubject]>([
  ['another subject', { commonName: '', parts: [{ CN: 'edge-8' }, { O: 'Acme' }] }],
  ['another order', { commonName: '', parts: [{ O: 'Acme' }, { CN: 'edge-7' }] }],
  ['a name that reads as two', { commonName: 'edge-7,O=Acme' }],
])(
  'who shows one with %s has none',
  async (_what, subject) => {
    expect(await open(clients.issue(subject))).toMatchObject({
      status: 401,
      body: { message: 'The certificate proves the agent of none of these accounts' },
    });
  },
  testMs,
);

test.each<[string, () => Identity | undefined]>([
  ['of somebody else', () => new CertificateAuthority('clients').issue(acme)],
  ['that is over', () => clients.issue({ ...acme, expired: true })],
  ['that is none', () => undefined],
])(
  'who shows a certificate %s has no connection',
  async (_what, issue) => {
    await expect(open(issue())).rejects.toThrow(/alert|ECONNRESET|socket/i);
  },
  testMs,
);

test(
  'a role is not believed, for nobody checks signatures here',
  async () => {
    expect(await open(clients.issue(acme), '/agent/v1/iam-sessions')).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('Nobody has checked a signature of IAM here') },
    });
  },
  testMs,
);

test(
  'an agent that has a certificate and no token is connected, once its files hold one that is believed',
  async () => {
    const renew = ({ certificate, key }: Identity) =>
      Promise.all([write('agent.crt', certificate), write('agent.key', key)]);
    await renew(clients.issue({ ...acme, expired: true }));
    const config = await write(
      'busdriver-agent.yaml',
      JSON.stringify({
        busdriver: { url: world.system.url, caFile: 'servers.crt' },
        clouddriver: { tls: { clientCertFile: 'agent.crt', clientKeyFile: 'agent.key' } },
        kubernetes: { accounts: [{ name: 'edge', kubeConfigFile: 'kubeconfig' }] },
        ...{ server: { port: 0 }, prometheus: { port: 0 } },
      }),
    );
    await using agent = await runAgentProgram(['--config', config]);
    await expect.poll(() => agent.log, { timeout: testMs }).toContain('no session with Busdriver');
    await renew(clients.issue(acme));
    await expect.poll(() => agent.log, { timeout: testMs }).toContain('"session with Busdriver"');
  },
  testMs,
);
