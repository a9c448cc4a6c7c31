import { afterAll, beforeAll } from 'vitest';
import type { AwsJsonServer } from '../../../infra/local/aws-json-server.ts';
import { startSqs } from '../../../infra/local/sqs.ts';
import { testQueueEngine } from '../../contracts/queue.contract.ts';
import { openTestAccess } from '../../support/engines/local-aws-client.ts';

let server: AwsJsonServer;

beforeAll(async () => {
  server = await startSqs(openTestAccess());
});

afterAll(() => server[Symbol.asyncDispose]());

testQueueEngine('our own SQS', () => ({
  endpoint: server.url,
  maximumMessageBytes: 1 << 20,
  gaps: {},
}));
