import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSessionTokens } from '#agents/services/session-tokens.ts';
import { handler } from '#functions/authorizers/check-agent-session.ts';
import { Services } from '#platform/services/services.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

const methodArn = 'arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/live/$connect';

let dir: TempDir;
let services: Services;
beforeEach(async () => {
  dir = await makeTempDir();
  services = open({ BUSDRIVER_AGENT_KEY_FILE: path.join(dir.path, 'key.jwk') });
});
afterEach(async () => {
  await services[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

function open(environment: object): Services {
  return new Services({
    BUSDRIVER_TASKS_TABLE: 'tasks',
    BUSDRIVER_CACHE_TABLE: 'cache',
    BUSDRIVER_OPERATIONS_QUEUE_URL: 'https://sqs.example.com/operations',
    BUSDRIVER_AGENTS_QUEUE_URL: 'https://sqs.example.com/agents',
    BUSDRIVER_BUS_NAME: 'bus',
    ...environment,
  });
}

const ask = (authorization?: string) =>
  handler.withServices(services)({
    methodArn,
    headers: authorization === undefined ? {} : { Authorization: authorization },
  });

it('lets in who shows a token of a session, on this route alone, and tells whose it is', async () => {
  const { token = '' } = (await openSessionTokens(services)?.sign('session-1')) ?? {};
  expect(await ask(`Bearer ${token}`)).toEqual({
    principalId: 'agent',
    context: { session: 'session-1' },
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: methodArn }],
    },
  });
});

it('lets nobody else in, with the word for status 401', async () => {
  const { token = '' } = (await openSessionTokens(services)?.sign('session-1')) ?? {};
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer x',
    `Basic ${token}`,
    `Bearer ${token.slice(0, -4)}AAAA`,
  ]) {
    await expect(ask(header)).rejects.toThrow(/^Unauthorized$/);
  }
});

it('fails where no key is configured', async () => {
  await using without = open({});
  await expect(handler.withServices(without)({ methodArn, headers: {} })).rejects.toThrow('no key');
});
