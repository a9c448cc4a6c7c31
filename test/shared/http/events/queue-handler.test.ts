import type { Context, SQSEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { Logger } from '#core/logger.ts';
import { agentMessages, taskMessages } from '#http/events/message-kinds.ts';
import { type MessageKind, queueHandler } from '#http/events/queue-handler.ts';

const lambda = {
  functionName: 'work',
  awsRequestId: 'one',
  getRemainingTimeInMillis: () => 900_000,
} as Context;

function toEvent(...bodies: readonly string[]): SQSEvent {
  const Records = bodies.map((body, index) => ({
    messageId: `message ${index}`,
    receiptHandle: `receipt ${index}`,
    body,
    attributes: { ApproximateReceiveCount: '2' },
  }));
  return { Records } as unknown as SQSEvent;
}

/** What became of bodies: those that were run, and those that come again. */
async function handle<B extends object>(kind: MessageKind<B>, ...bodies: readonly string[]) {
  const errors: string[] = [];
  const log: Logger = { debug() {}, info() {}, warn() {}, error: (message) => void errors.push(message) };
  const run: object[] = [];
  const handler = queueHandler(
    kind,
    () => ({ log }),
    async function runMessage({ receiptHandle, deliveries, stop, ...body }) {
      expect([receiptHandle.startsWith('receipt'), deliveries, stop.aborted]).toEqual([true, 2, false]);
      run.push(body);
      if (JSON.stringify(body).includes('poison')) throw new Error('no');
    },
  );
  const { batchItemFailures } = await handler(toEvent(...bodies), lambda);
  return { run, errors, again: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier) };
}

describe('a function behind a queue', () => {
  it('runs messages of tasks', async () => {
    const { run, again } = await handle(taskMessages, '{"taskId":"01A"}', '{"taskId":"01B"}');
    expect(run).toMatchObject([{ taskId: '01A' }, { taskId: '01B' }]);
    expect(again).toEqual([]);
  });

  it('runs messages for agents', async () => {
    const message = { agents: [{ account: 'prod', name: 'core' }], dueMs: 5 };
    const demand = { ...message, isDemanded: true };
    const { run } = await handle(agentMessages, JSON.stringify(message), JSON.stringify(demand));
    expect(run).toMatchObject([{ ...message, isDemanded: false }, demand]);
  });

  it.each([
    [taskMessages, 'text'],
    [taskMessages, '{"taskId":7}'],
    [taskMessages, '{"taskId":""}'],
    [agentMessages, '[]'],
    [agentMessages, '{"agents":[],"dueMs":5}'],
    [agentMessages, '{"agents":[{"account":"prod"}],"dueMs":5}'],
    [agentMessages, '{"agents":[{"account":"prod","name":"core"}]}'],
  ] as const)('takes malformed messages off the queue: %#', async (kind, body) => {
    const { run, errors, again } = await handle<object>(kind, body);
    expect({ run, errors, again }).toEqual({
      run: [],
      errors: ['malformed message taken off the queue'],
      again: [],
    });
  });

  it('lets those come again whose run fails, and no others', async () => {
    const { again } = await handle(
      taskMessages,
      '{"taskId":"01A"}',
      '{"taskId":"poison"}',
      '{"taskId":"01C"}',
    );
    expect(again).toEqual(['message 1']);
  });
});
