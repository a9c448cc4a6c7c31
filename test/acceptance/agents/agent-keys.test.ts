import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createTokenSigner } from '../../support/agents/agent-process.ts';
import { startJwksServer } from '../../support/agents/jwks-server.ts';
import { callRaw } from '../../support/agents/raw-agent.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';
import { startSystem } from '../../support/system/system.ts';

const testMs = 120_000;

test(
  'tokens are verified by keys that are fetched, from hosts that the settings name, whose certificates the machine trusts',
  async () => {
    await using dir = await makeTempDir();
    await using server = await startJwksServer();
    const { host } = new URL(server.url);
    const signer = await createTokenSigner();
    const { issuer, subject } = signer;
    server.serve(signer.jwks.keys);
    const [config, authority] = ['clouddriver.yml', 'ca.crt'].map((name) => path.join(dir.path, name));
    if (config === undefined || authority === undefined) throw new Error('no paths');
    await writeFile(authority, server.authority);
    const toAccount = (name: string, jwksUri: string) => ({
      ...{ name, agent: { auth: { type: 'serviceAccount', issuer, subject, jwksUri } } },
    });
    const accounts = [toAccount('edge', server.url), toAccount('elsewhere', 'https://keys.example.com/jwks')];
    const agents = { enabled: true, jwksHosts: [host] };
    const settings = { busdriver: { agents }, kubernetes: { accounts, cache: { enabled: false } } };
    await writeFile(config, JSON.stringify(settings));
    await using system = await startSystem({ config: [config], env: { NODE_EXTRA_CA_CERTS: authority } });

    expect(system.accounts).toEqual(['edge']);
    expect(system.stderr).toContain(
      'kubernetes.accounts[1].agent.auth.jwksUri: expected a host that busdriver.agents.jwksHosts names, not keys.example.com',
    );
    const body = {
      ...{ agentId: 'test', version: '1', protocol: 1, journalFormat: 1 },
      accounts: [{ name: 'edge' }],
    };
    const open = async (token: string) =>
      callRaw(system.url, { method: 'POST', target: '/agent/v1/sessions', token, body });
    const forger = await createTokenSigner();
    expect((await open(await signer.sign())).status).toBe(200);
    expect((await open(await forger.sign())).status).toBe(401);
    expect((await open(await signer.sign())).status).toBe(200);
    expect(server.requests).toBe(1);
  },
  testMs,
);
