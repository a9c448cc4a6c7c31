import { afterAll, beforeAll } from 'vitest';
import { testQueueEngine } from '../../../../contracts/queue.contract.ts';
import { startSqs } from '../../../../support/engines/engine-servers.ts';
import type { EngineServer } from '../../../../support/engines/http-engine.ts';

let server: EngineServer;

beforeAll(async () => {
  server = await startSqs();
});

afterAll(() => server[Symbol.asyncDispose]());

testQueueEngine('our own SQS', () => ({
  endpoint: server.url,
  maximumMessageBytes: 1 << 20,
  gaps: {},
}));
