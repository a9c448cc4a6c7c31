import { afterAll, beforeAll } from 'vitest';
import { testQueueEngine } from '#test/contracts/queue.contract.ts';
import type { JavaEngine } from '#test/support/engines/java-engines.ts';
import { describeWithJavaEngine } from '#test/support/engines/java-suite.ts';

await describeWithJavaEngine('elasticmq', (start) => {
  let engine: JavaEngine;

  beforeAll(async () => {
    engine = await start();
  });

  afterAll(() => engine?.[Symbol.asyncDispose]());

  testQueueEngine('ElasticMQ', () => ({
    endpoint: engine.url,
    maximumMessageBytes: 1 << 20,
    gaps: {
      fairGroups: 'ElasticMQ hands out messages in the order in which they came, whatever their groups',
      oldReceipts: 'ElasticMQ refuses to delete with a receipt that is not the last one, or again',
      emptyBatch: 'ElasticMQ takes a batch without entries',
      errorNames: 'ElasticMQ names most errors InvalidAttributeValue',
    },
  }));
});
