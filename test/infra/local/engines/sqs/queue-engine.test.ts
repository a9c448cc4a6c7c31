import { afterAll, beforeAll } from 'vitest';
import type { EngineServer } from '../../../../support/engines/http-engine.ts';
import { testQueueEngine } from '../../../../contracts/queue.contract.ts';
import { startSqs } from '../../../../support/engines/engine-servers.ts';

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
