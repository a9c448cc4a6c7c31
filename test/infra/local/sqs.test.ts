import { afterAll, beforeAll } from 'vitest';
import { type SqsServer, startSqs } from '../../../infra/local/sqs.ts';
import { testQueueEngine } from '../../contracts/queue.contract.ts';

let server: SqsServer;

beforeAll(async () => {
  server = await startSqs();
});

afterAll(() => server[Symbol.asyncDispose]());

testQueueEngine('our own SQS', () => ({
  endpoint: server.url,
  maximumMessageBytes: 1 << 20,
  gaps: {},
}));
