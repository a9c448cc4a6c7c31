import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { routes } from '#functions/routes.ts';
import { DataDirInUseError } from '#infra/local/data-dir-lock.ts';
import { type Runtime, startRuntime } from '#infra/local/runtime.ts';
import { loadHandler } from '#infra/server/functions/handlers.ts';
import type { Handler } from '#infra/server/functions/invoker.ts';
import type { Inventory } from '#infra/server/served-functions.ts';
import { tables } from '#platform/aws/tables.ts';
import { readConfig } from '#platform/config.ts';

const inventory: Inventory = {
  routes: [
    {
      method: 'GET',
      path: '/ping/{name}',
      module: 'api/ping',
      reaches: 'store',
      timeoutSeconds: 20,
      access: 'anonymous',
    },
  ],
  queues: ['operations', 'agents'].map((name) => ({
    name,
    module: 'workers/work',
    deadLetterModule: 'workers/bury',
    batchSize: 1,
    concurrency: 2,
    timeoutSeconds: 900,
    visibilityTimeoutSeconds: 1,
    receivesMax: 2,
    retentionSeconds: 3600,
  })),
  schedules: [{ name: 'sweep', module: 'workers/sweep', rateMinutes: 1, timeoutSeconds: 50 }],
  tables,
};

let dataDir: string;
let swept: number;
let work: Handler;
const buried: string[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'busdriver-runtime-'));
  swept = 0;
  work = async () => undefined;
  buried.length = 0;
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

test('functions find their resources in the environment of the runtime, and serve requests', async () => {
  await using runtime = await start();
  const config = readConfig(runtime.services.environment);
  expect(config).toMatchObject({
    tasksTable: 'tasks',
    busName: 'busdriver',
    configFiles: ['/a', '/b'],
    profiles: ['local', 'test'],
    kubeconfig: '/k',
    placement: 'local',
    logLevel: 'SILENT',
  });

  const response = await fetch(`${runtime.url}/ping/you`);
  expect(await response.json()).toEqual({ name: 'you' });
  const { Attributes } = (await runtime.engines.sqs.perform('GetQueueAttributes', {
    QueueUrl: config.operationsQueueUrl,
    AttributeNames: ['All'],
  })) as { readonly Attributes: object };
  expect(Attributes).toMatchObject({ VisibilityTimeout: '1', MessageRetentionPeriod: '3600' });
  expect(runtime.engines.dynamodb.names).toContain(config.tasksTable);
});

test('schedules run at the start', async () => {
  await using _runtime = await start();
  await expect.poll(() => swept).toBe(1);
});

test('a message that its worker cannot take ends with the dead-letter function', async () => {
  const tries: string[] = [];
  work = async (event) => {
    tries.push(...(event as SQSEvent).Records.map(({ body }) => body));
    throw new Error('poison');
  };
  await using runtime = await start();
  await send(runtime, 'poison');
  await expect.poll(() => buried).toEqual(['poison']);
  expect(tries).toEqual(['poison', 'poison']);
});

describe('stopping', () => {
  test('lets a running invocation end, and shortens its time', async () => {
    let context: Context | undefined;
    let finished = false;
    work = async (_event, given) => {
      context = given;
      while (given.getRemainingTimeInMillis() > 10_000)
        await new Promise((resolve) => setTimeout(resolve, 5));
      finished = true;
    };
    const runtime = await start();
    await send(runtime, 'long');
    await expect.poll(() => context).toBeDefined();
    expect(context?.getRemainingTimeInMillis()).toBeGreaterThan(800_000);

    await runtime[Symbol.asyncDispose]();

    expect(finished).toBe(true);
    await expect(fetch(`${runtime.url}/ping/you`)).rejects.toThrow();
  });

  test('answers the requests under way', async () => {
    const runtime = await start();
    const answer = fetch(`${runtime.url}/ping/slow`);
    await expect.poll(() => slowRequests).toHaveLength(1);
    const stopped = runtime[Symbol.asyncDispose]();
    slowRequests[0]?.();
    expect(await (await answer).json()).toEqual({ name: 'slow' });
    await stopped;
  });

  test('waits no longer than a moment for what will not close', async () => {
    const runtime = await start();
    runtime.services.closeLater(() => new Promise(() => undefined));
    await runtime[Symbol.asyncDispose]();
    await expect(fetch(`${runtime.url}/ping/you`)).rejects.toThrow();
  });

  test('frees the data folder, which only one runtime may use', async () => {
    {
      await using _runtime = await start();
      await expect(start()).rejects.toThrow(DataDirInUseError);
    }
    await using _next = await start();
  });
});

test('a start that fails leaves nothing behind', async () => {
  await using other = await start();
  const port = Number(new URL(other.url).port);
  const dir = path.join(dataDir, 'other');
  await expect(start({ port, dataDir: dir })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await using _next = await start({ dataDir: dir });
});

test('every function of the inventory can be loaded', async () => {
  for (const { module } of routes) expect(await loadHandler(module)).toBeTypeOf('function');
});

const slowRequests: (() => void)[] = [];

function start(options: Partial<Parameters<typeof startRuntime>[0]> = {}): Promise<Runtime> {
  const functions: { readonly [module: string]: Handler } = {
    async 'api/ping'(event) {
      const { pathParameters } = event as { pathParameters: { name: string } };
      if (pathParameters.name === 'slow') await new Promise<void>((resolve) => slowRequests.push(resolve));
      return { statusCode: 200, headers: {}, body: JSON.stringify(pathParameters) };
    },
    'workers/work': (event, context) => work(event, context),
    async 'workers/bury'(event) {
      buried.push(...(event as SQSEvent).Records.map(({ body }) => body));
    },
    async 'workers/sweep'() {
      swept += 1;
    },
  };
  return startRuntime({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    dataDir,
    shutdownTimeoutMs: 10_000,
    configFiles: ['/a', '/b'],
    profiles: ['local', 'test'],
    kubeconfig: '/k',
    logLevel: 'SILENT',
    inventory,
    load: async (module) => functions[module] as Handler,
    ...options,
  });
}

async function send(runtime: Runtime, MessageBody: string): Promise<void> {
  const QueueUrl = readConfig(runtime.services.environment).operationsQueueUrl;
  await runtime.engines.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
}
