import { expect, it } from 'vitest';
import { createCachingAgentQueue } from '#caching/aws/agents/caching-agent-queue.ts';
import { startSqs } from '#test/support/engines/engine-servers.ts';
import { createQueue } from '#test/support/engines/test-queue.ts';

const core = (account: string) => ({ account, name: 'core' });

it('sends ten messages with one call, each when it is to come, and those for one agent by account', async () => {
  await using server = await startSqs();
  const test = await createQueue(server.url, {});
  const queue = createCachingAgentQueue(test.client, test.url);
  const messages = Array.from({ length: 9 }, (_, index) => ({
    agents: [core(`ünï ${index}`)],
    dueMs: index,
  }));
  const delayed = { agents: [core('one'), core('other')], dueMs: 60_500 };
  await queue.send([...messages, delayed], 500);

  const received = await test.receive({ MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'] });
  const bodies = received.map(({ Body = '' }) => JSON.parse(Body));
  expect(bodies).toHaveLength(9);
  expect(bodies).toEqual(expect.arrayContaining(messages));
  expect(received[0]?.Attributes?.MessageGroupId).toMatch(/^_n__\d$/);
  expect(await test.count('ApproximateNumberOfMessagesDelayed')).toBe(1);
});

it('throws when one of its messages was refused', async () => {
  await using server = await startSqs();
  const test = await createQueue(server.url, {});
  const queue = createCachingAgentQueue(test.client, test.url);
  const message = { agents: [core('prod')], dueMs: 0 };
  const tooLarge = { agents: [core('x'.repeat(2 << 20))], dueMs: 0 };
  await expect(queue.send([message, tooLarge], 0)).rejects.toThrow();
});
