import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  PurgeQueueCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import {
  createQueue,
  type QueueSettings,
  type TestQueue,
  toEntries,
} from '#test/support/engines/test-queue.ts';
import { testDelivery } from './queue-delivery.contract.ts';
import { type QueueEngine, refusal, skipGap } from './queue-engine.ts';

/** What Busdriver needs of every SQS, in terms of the AWS SDK. `getEngine` is called inside the tests. */
export function testQueueEngine(name: string, getEngine: () => QueueEngine): void {
  const openQueue = async (attributes: QueueSettings = {}): Promise<TestQueue> => {
    const { endpoint, clientOptions } = getEngine();
    return createQueue(endpoint, attributes, clientOptions);
  };

  const expectRefusal = async (sending: Promise<unknown>, code: RegExp): Promise<void> =>
    expect(sending).rejects.toMatchObject(refusal(getEngine(), code));

  describe(`queues on ${name}`, () => {
    describe('a message', () => {
      it('arrives as it was sent, with what the system knows of it', async () => {
        const queue = await openQueue();
        const before = Date.now();

        const sent = await queue.send('{"a":"ü😀"}', { MessageGroupId: 'prod' });
        const [message] = await queue.receive({ MessageSystemAttributeNames: ['All'] });

        expect(message?.MessageId).toBe(sent.MessageId);
        expect(message?.Body).toBe('{"a":"ü😀"}');
        expect(message?.Attributes).toMatchObject({ ApproximateReceiveCount: '1' });
        const sentAt = Number(message?.Attributes?.SentTimestamp);
        expect(sentAt).toBeGreaterThanOrEqual(before - 1000);
        expect(sentAt).toBeLessThanOrEqual(Date.now() + 1000);
      });

      it('shows what the system knows only to who asks for it', async () => {
        const queue = await openQueue();
        await queue.send('a');
        const [message] = await queue.receive();
        expect(message?.Attributes ?? {}).toEqual({});
      });

      it('reaches one of many receivers, once', async () => {
        const queue = await openQueue({ VisibilityTimeout: '60' });
        const receivers = Array.from({ length: 5 }, () => queue.receive({ WaitTimeSeconds: 3 }));
        await queue.send('only');
        const received = (await Promise.all(receivers)).flat();
        expect(received.map(({ Body }) => Body)).toEqual(['only']);
      });

      it('wakes a receiver that waits', async () => {
        const queue = await openQueue();
        const receiving = queue.receive({ WaitTimeSeconds: 20 });
        await new Promise((resolve) => setTimeout(resolve, 200));
        const sentAt = performance.now();

        await queue.send('wake');
        const [message] = await receiving;

        expect(message?.Body).toBe('wake');
        expect(performance.now() - sentAt).toBeLessThan(10_000);
      });

      it('waits for its delay', async () => {
        const queue = await openQueue();
        await queue.send('much later', { DelaySeconds: 60 });
        expect(await queue.receive()).toEqual([]);
        expect(await queue.count('ApproximateNumberOfMessagesDelayed')).toBe(1);

        const sentAt = performance.now();
        await queue.send('later', { DelaySeconds: 1 });
        const [message] = await queue.receive({ WaitTimeSeconds: 10 });

        expect(message?.Body).toBe('later');
        expect(performance.now() - sentAt).toBeGreaterThan(800);
      });

      it('waits for the delay of its queue', async () => {
        const slow = await openQueue({ DelaySeconds: '60' });
        const quick = await openQueue({ DelaySeconds: '1' });
        await slow.send('much later');
        expect(await slow.receive()).toEqual([]);
        await quick.send('later');
        expect(await quick.receive({ WaitTimeSeconds: 10 })).toHaveLength(1);
      });

      it('may hold as much as the limit, and no more', async () => {
        const queue = await openQueue();
        const { maximumMessageBytes } = getEngine();
        await queue.send('x'.repeat(maximumMessageBytes));
        await expectRefusal(
          queue.send('x'.repeat(maximumMessageBytes + 1)),
          /^(InvalidParameterValue|InvalidMessageContents)$/,
        );
        expect(await queue.receive()).toHaveLength(1);
      });

      it('must not hold what XML cannot', async () => {
        const queue = await openQueue();
        await expectRefusal(queue.send('a\u0000b'), /^InvalidMessageContents$/);
      });
    });

    testDelivery(openQueue, getEngine);

    describe('a batch', () => {
      it('of messages is sent and received together', async () => {
        const queue = await openQueue();
        const bodies = Array.from({ length: 10 }, (_, index) => `message ${index}`);

        const { Successful, Failed } = await queue.sendBatch(bodies.map((MessageBody) => ({ MessageBody })));
        const received = await queue.receive({ MaxNumberOfMessages: 10 });

        expect(Successful).toHaveLength(10);
        expect(Failed ?? []).toEqual([]);
        expect(received.map(({ Body }) => Body).sort()).toEqual(bodies);
      });

      it('fails entry by entry', async () => {
        const queue = await openQueue();
        const entries = [{ MessageBody: 'good' }, { MessageBody: 'bad', DelaySeconds: 901 }];
        const { Successful, Failed } = await queue.sendBatch(entries);
        expect(Successful?.map(({ Id }) => Id)).toEqual(['0']);
        expect(Failed?.map(({ Id, SenderFault }) => ({ Id, SenderFault }))).toEqual([
          { Id: '1', SenderFault: true },
        ]);
      });

      it('deletes messages, and fails entry by entry', async () => {
        const queue = await openQueue({ VisibilityTimeout: '60' });
        await queue.sendBatch([{ MessageBody: 'a' }, { MessageBody: 'b' }]);
        const [good, other] = toEntries(await queue.receive({ MaxNumberOfMessages: 10 }));
        const entries = [good, { Id: 'bad', ReceiptHandle: 'nonsense' }, other].map((entry) => ({
          Id: entry?.Id,
          ReceiptHandle: entry?.ReceiptHandle,
        }));

        const { Successful, Failed } = await queue.client.send(
          new DeleteMessageBatchCommand({ QueueUrl: queue.url, Entries: entries }),
        );

        expect(Successful?.map(({ Id }) => Id)).toEqual(['0', '1']);
        expect(Failed?.map(({ Id, SenderFault }) => ({ Id, SenderFault }))).toEqual([
          { Id: 'bad', SenderFault: true },
        ]);
        expect(await queue.count('ApproximateNumberOfMessagesNotVisible')).toBe(0);
      });

      it('must hold an entry', async (test) => {
        skipGap(test, getEngine(), 'emptyBatch');
        const queue = await openQueue();
        await expectRefusal(queue.sendBatch([]), /EmptyBatchRequest/);
      });

      it('must hold at most ten entries, with distinct ids', async () => {
        const queue = await openQueue();
        const eleven = Array.from({ length: 11 }, () => ({ MessageBody: 'x' }));
        await expectRefusal(queue.sendBatch(eleven), /TooManyEntriesInBatchRequest/);
        const twice = ['same', 'same'].map((Id) => ({ Id, MessageBody: 'x' }));
        await expectRefusal(
          queue.client.send(new SendMessageBatchCommand({ QueueUrl: queue.url, Entries: twice })),
          /BatchEntryIdsNotDistinct/,
        );
      });
    });

    describe('a queue', () => {
      it('is found by name, and made twice only with the same attributes', async () => {
        const queue = await openQueue({ VisibilityTimeout: '7' });
        const create = (VisibilityTimeout: string) =>
          queue.client.send(
            new CreateQueueCommand({ QueueName: queue.name, Attributes: { VisibilityTimeout } }),
          );

        expect((await create('7')).QueueUrl).toBe(queue.url);
        await expectRefusal(create('8'), /QueueNameExists|QueueAlreadyExists/);
        const { QueueUrl } = await queue.client.send(new GetQueueUrlCommand({ QueueName: queue.name }));
        expect(QueueUrl).toBe(queue.url);
      });

      it('counts its messages by state', async () => {
        const queue = await openQueue({ VisibilityTimeout: '60' });
        await queue.sendBatch([{ MessageBody: 'a' }, { MessageBody: 'b' }, { MessageBody: 'c' }]);
        await queue.send('d', { DelaySeconds: 60 });
        await queue.receive();

        expect(await queue.count('ApproximateNumberOfMessages')).toBe(2);
        expect(await queue.count('ApproximateNumberOfMessagesNotVisible')).toBe(1);
        expect(await queue.count('ApproximateNumberOfMessagesDelayed')).toBe(1);
      });

      it('is empty once purged', async () => {
        const queue = await openQueue();
        await queue.sendBatch([{ MessageBody: 'a' }, { MessageBody: 'b' }]);
        await queue.client.send(new PurgeQueueCommand({ QueueUrl: queue.url }));
        expect(await queue.receive()).toEqual([]);
        expect(await queue.count('ApproximateNumberOfMessages')).toBe(0);
      });
    });

    describe('a request', () => {
      it('for a queue that does not exist is refused by name', async () => {
        const queue = await openQueue();
        const missing = `${queue.url}-missing`;
        await expect(
          queue.client.send(new SendMessageCommand({ QueueUrl: missing, MessageBody: 'x' })),
        ).rejects.toMatchObject({ name: 'QueueDoesNotExist', $metadata: { httpStatusCode: 400 } });
        await expect(
          queue.client.send(new GetQueueUrlCommand({ QueueName: `${queue.name}-missing` })),
        ).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
      });

      it('with a receipt handle of nowhere is refused', async () => {
        const queue = await openQueue();
        await expect(
          queue.client.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle: 'nonsense' })),
        ).rejects.toMatchObject({ name: 'ReceiptHandleIsInvalid' });
      });

      it('with a number out of range is refused', async () => {
        const queue = await openQueue();
        await expectRefusal(queue.receive({ MaxNumberOfMessages: 11 }), /^InvalidParameterValue$/);
        await expectRefusal(queue.send('x', { DelaySeconds: 901 }), /^InvalidParameterValue$/);
      });
    });
  });
}
