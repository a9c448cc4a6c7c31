import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentFunctions, openAgentFunctions } from '../../support/agents/agent-functions.ts';
import { runAgentProgram } from '../../support/agents/agent-process.ts';
import { type IamGateway, startIamGateway } from '../../support/agents/iam-gateway.ts';
import { makeTempDir, type TempDir } from '../../support/run/temp-dir.ts';

const testMs = 120_000;
const region = 'eu-west-1';
const caller = {
  accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: 'a-session-of-the-role',
  userArn: 'arn:aws:sts::111122223333:assumed-role/edge-9/busdriver-agent',
};
const stack = new AsyncDisposableStack();
let dir: TempDir;
let functions: AgentFunctions;
let gateway: IamGateway;

beforeAll(async () => {
  dir = stack.use(await makeTempDir());
  const roleArns = ['arn:aws:iam::111122223333:role/agents/edge-9'];
  functions = stack.use(
    await openAgentFunctions([{ name: 'edge', agent: { auth: { type: 'iam', roleArns } } }]),
  );
  gateway = stack.use(await startIamGateway(caller, { ...functions, region }));
}, testMs);
afterAll(() => stack.disposeAsync());

async function start(args: readonly string[], credentials: { readonly [name: string]: string }) {
  const config = path.join(dir.path, 'busdriver-agent.yaml');
  await writeFile(
    config,
    JSON.stringify({
      busdriver: { url: gateway.url, auth: 'iam', region },
      kubernetes: { accounts: [{ name: 'edge', kubeConfigFile: 'kubeconfig' }] },
      ...{ server: { port: 0 }, prometheus: { port: 0 } },
    }),
  );
  // Nothing of this machine's own.
  const none = { AWS_PROFILE: '', AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  const environment = { ...none, AWS_EC2_METADATA_DISABLED: 'true', ...credentials };
  return runAgentProgram(['--config', config, ...args], { environment });
}

const own = {
  AWS_ACCESS_KEY_ID: caller.accessKeyId,
  AWS_SECRET_ACCESS_KEY: caller.secretAccessKey,
  AWS_SESSION_TOKEN: caller.sessionToken,
};

test(
  'an agent signs with the role of its environment, and is let in',
  async () => {
    await using agent = await start([], own);
    await expect.poll(() => agent.log, { timeout: testMs }).toContain('"session with Busdriver"');
    expect(agent.log).not.toContain(caller.secretAccessKey);
    expect(agent.log).not.toContain(caller.sessionToken);
  },
  testMs,
);

test.each([
  ['another secret', { ...own, AWS_SECRET_ACCESS_KEY: 'x'.repeat(40) }, 'Busdriver answered 403: Forbidden'],
  ['no credentials', {}, 'no AWS credentials were found'],
])(
  'one with %s says why it has no session',
  async (_what, credentials, reason) => {
    await using agent = await start([], credentials);
    await expect.poll(() => agent.log, { timeout: testMs }).toContain(reason);
    expect(agent.log).not.toContain('"session with Busdriver"');
  },
  testMs,
);

test(
  '--check tells that a role proves the agent',
  async () => {
    await using agent = await start(['--check'], own);
    await agent.exited;
    expect(agent.log).toContain('none: a role of IAM proves who the agent is');
  },
  testMs,
);
