import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { queues } from '#functions/queues.ts';
import { HostAccess } from '#infra/kubernetes/host-access.ts';
import { findResources } from '#infra/kubernetes/resources.ts';
import { tables } from '#platform/aws/tables.ts';
import { variables } from '#platform/config.ts';
import { Services } from '#platform/services/services.ts';
import { startFiat } from '#test/support/services/fiat.ts';
import { createProxyEvent } from '#test/support/system/proxy-event.ts';
import { type HomeEngines, startHomeEngines } from './engines.ts';

let engines: HomeEngines;
beforeAll(async () => {
  engines = await startHomeEngines();
});
afterAll(() => engines[Symbol.asyncDispose]());

/** Who calls. */
interface TestCaller {
  readonly address: string;
  readonly user?: string;
  readonly token?: string;
}

/** Says 'passes', or why an operator's route is refused. */
async function ask(settings: JsonObject, { address, user, token = '' }: TestCaller): Promise<string> {
  const file = join(engines.dir, 'clouddriver.yml');
  await writeFile(file, JSON.stringify(settings));
  const { environment } = engines;
  await using services = new Services({
    ...environment,
    ...(await findResources(environment, { tables, queues, namePrefix: '' })),
    [variables.placement]: 'local',
    [variables.isReplicated]: 'true',
    [variables.logLevel]: 'SILENT',
    [variables.configFiles]: JSON.stringify([file]),
  });
  const tokens = { isPeer: async (given: string | undefined) => given === 'Bearer good' };
  const access = new HostAccess(tokens, Promise.resolve(services));
  const event = makeEvent(address, {
    ...(user && { 'X-SPINNAKER-USER': user }),
    authorization: `Bearer ${token}`,
    host: 'localhost',
  });
  return await access.admitOperator(event).then(
    () => 'passes',
    (error: Error) => error.message,
  );
}

function makeEvent(sourceIp: string, headers: { readonly [name: string]: string }): APIGatewayProxyEvent {
  const event = createProxyEvent(Object.entries(headers));
  const { requestContext } = event;
  return {
    ...event,
    requestContext: { ...requestContext, identity: { ...requestContext.identity, sourceIp } },
  };
}

test('without Fiat replicas are told of replicas, and nobody else is: in a mesh everybody comes from the pod itself', async () => {
  const refused = /^accounts cannot be changed without Fiat unless/;
  expect(await ask({}, { address: '10.1.2.3' })).toMatch(refused);
  expect(await ask({}, { address: '10.1.2.3', token: 'bad' })).toMatch(refused);
  expect(await ask({}, { address: '10.1.2.3', token: 'good' })).toBe('passes');
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '127.0.0.6', '::1']) {
    expect(await ask({}, { address })).toMatch(refused);
    expect(await ask({}, { address, token: 'good' })).toBe('passes');
  }
  const open = { busdriver: { accounts: { writableWithoutFiat: true } } };
  expect(await ask(open, { address: '10.1.2.3' })).toBe('passes');
});

test('with Fiat who may manage accounts is told, from wherever he calls', async () => {
  await using fiat = await startFiat({ users: { ada: { accountManager: true }, eve: {} } });
  const settings = { services: { fiat: { enabled: true, baseUrl: fiat.url } } };
  expect(await ask(settings, { address: '10.1.2.3', user: 'ada' })).toBe('passes');
  const refused = 'Access denied: only managers of accounts and administrators may do this';
  expect(await ask(settings, { address: '10.1.2.3', user: 'eve' })).toBe(refused);
  expect(await ask(settings, { address: '127.0.0.1', user: 'eve' })).toBe(refused);
  expect(await ask(settings, { address: '10.1.2.3', token: 'good' })).toBe('passes');
});
