import { afterAll, beforeAll } from 'vitest';
import { type SqsServer, startSqs } from '../../../infra/local/sqs.ts';
import { testQueueEngine } from '../../contracts/queue.contract.ts';
import { openTestAccess } from '../../support/local-aws-client.ts';

let server: SqsServer;

beforeAll(async () => {
  server = await startSqs(openTestAccess());
});

afterAll(() => server[Symbol.asyncDispose]());

testQueueEngine('our own SQS', () => ({
  endpoint: server.url,
  maximumMessageBytes: 1 << 20,
  gaps: {},
}));
