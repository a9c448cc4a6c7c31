import { afterAll } from 'vitest';
import { testQueueEngine } from '#test/contracts/queue.contract.ts';
import { startSqs } from '#test/support/engines/engine-servers.ts';

const server = await startSqs();
afterAll(() => server[Symbol.asyncDispose]());

testQueueEngine('our own SQS', () => ({ endpoint: server.url, maximumMessageBytes: 1 << 20, gaps: {} }));
