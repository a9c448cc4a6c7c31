import { randomUUID } from 'node:crypto';
import type { Message } from '@aws-sdk/client-sqs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QueueSettings, TestQueue } from '#test/support/engines/test-queue.ts';
import { type QueueEngine, refusal, skipGap } from './queue-engine.ts';

/** What every SQS must do with messages once they are received. Both arguments are called inside the tests. */
export function testDelivery(
  openQueue: (settings?: QueueSettings) => Promise<TestQueue>,
  getEngine: () => QueueEngine,
): void {
  describe('a received message', () => {
    it('is hidden for the visibility time-out', async () => {
      const queue = await openQueue({ VisibilityTimeout: '60' });
      await queue.send('hidden');
      expect(await queue.receive()).toHaveLength(1);
      expect(await queue.receive()).toEqual([]);
    });

    it('comes again after the visibility time-out', async () => {
      const queue = await openQueue({ VisibilityTimeout: '1' });
      await queue.send('again');
      const [first] = await queue.receive();

      const [second] = await queue.receive({
        WaitTimeSeconds: 10,
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      });

      expect(second?.MessageId).toBe(first?.MessageId);
      expect(second?.Attributes?.ApproximateReceiveCount).toBe('2');
    });

    it('is gone once deleted', async () => {
      const queue = await openQueue({ VisibilityTimeout: '1' });
      await queue.send('done');
      const [message] = await queue.receive();
      await queue.delete(message);
      expect(await queue.receive({ WaitTimeSeconds: 2 })).toEqual([]);
    });

    it('is shown at once when its visibility time-out is set to nothing', async () => {
      const queue = await openQueue({ VisibilityTimeout: '60' });
      await queue.send('back');
      const [message] = await queue.receive();
      await queue.hide(message, 0);
      expect(await queue.receive()).toHaveLength(1);
    });

    it('may be deleted after its visibility time-out, while nobody else has received it', async () => {
      const queue = await openQueue({ VisibilityTimeout: '1' });
      await queue.send('late');
      const [message] = await queue.receive();
      await expect.poll(() => queue.count('ApproximateNumberOfMessages')).toBe(1);

      await queue.delete(message);

      expect(await queue.receive({ WaitTimeSeconds: 1 })).toEqual([]);
    });

    it('has a receipt for each time that it is received, and is deleted by the last', async () => {
      const queue = await openQueue({ VisibilityTimeout: '60' });
      const [first, second] = await receiveTwice(queue);

      await queue.delete(second);

      expect(second?.ReceiptHandle).not.toBe(first?.ReceiptHandle);
      expect(await queue.count('ApproximateNumberOfMessages')).toBe(0);
      expect(await queue.count('ApproximateNumberOfMessagesNotVisible')).toBe(0);
    });

    it('may be deleted by an old receipt, and again: the answer is the same', async (test) => {
      skipGap(test, getEngine(), 'oldReceipts');
      const queue = await openQueue({ VisibilityTimeout: '60' });
      const [first, second] = await receiveTwice(queue);

      await queue.delete(first);
      await queue.delete(second);
      await queue.delete(second);
    });

    it('cannot be hidden any more once it is deleted', async () => {
      const queue = await openQueue();
      await queue.send('gone');
      const [message] = await queue.receive();
      await queue.delete(message);
      await expect(queue.hide(message, 60)).rejects.toMatchObject(
        refusal(getEngine(), /^(InvalidParameterValue|ReceiptHandleIsInvalid|MessageNotInflight)$/),
      );
    });

    it("is hidden for its queue's time again when it is received again, whatever it was renewed to", async () => {
      const queue = await openQueue({ VisibilityTimeout: '1' });
      await queue.send('long work');
      const [message] = await queue.receive();
      await queue.hide(message, 60);
      await queue.hide(message, 0);
      await queue.receive();

      expect(await queue.receive({ WaitTimeSeconds: 10 })).toHaveLength(1);
    });

    it('may be renewed often, and the last time counts', async () => {
      const queue = await openQueue({ VisibilityTimeout: '60' });
      await queue.send('long work');
      const [message] = await queue.receive();
      for (const seconds of [60, 3600, 60, 1]) await queue.hide(message, seconds);
      expect(await queue.receive({ WaitTimeSeconds: 10 })).toHaveLength(1);
    });

    it('stays hidden when its visibility time-out is renewed', async () => {
      const queue = await openQueue({ VisibilityTimeout: '3' });
      await queue.send('long work');
      const [message] = await queue.receive();

      await queue.hide(message, 60);

      expect(await queue.receive({ WaitTimeSeconds: 4 })).toEqual([]);
      expect(await queue.count('ApproximateNumberOfMessagesNotVisible')).toBe(1);
    });

    it('goes to the dead-letter queue when it was received too often', async () => {
      const deadLetters = await openQueue();
      const policy = { deadLetterTargetArn: await deadLetters.getArn(), maxReceiveCount: 2 };
      const queue = await openQueue({ RedrivePolicy: JSON.stringify(policy) });
      await queue.send('poison', { MessageGroupId: 'prod' });

      for (let turn = 0; turn < 2; turn++) await queue.hide((await queue.receive())[0], 0);
      expect(await queue.receive()).toEqual([]);

      const [letter] = await deadLetters.receive({
        WaitTimeSeconds: 5,
        MessageSystemAttributeNames: ['All'],
      });
      expect(letter?.Body).toBe('poison');
      expect(letter?.Attributes).toMatchObject({
        ApproximateReceiveCount: '3',
        DeadLetterQueueSourceArn: await queue.getArn(),
        MessageGroupId: 'prod',
      });
      expect(await queue.count('ApproximateNumberOfMessages')).toBe(0);
    });

    it('goes to the dead-letter queue when its receivers let it lapse, and to nowhere when they delete it', async () => {
      const deadLetters = await openQueue();
      const policy = { deadLetterTargetArn: await deadLetters.getArn(), maxReceiveCount: 1 };
      const queue = await openQueue({ VisibilityTimeout: '1', RedrivePolicy: JSON.stringify(policy) });
      await queue.sendBatch([{ MessageBody: 'lapses' }, { MessageBody: 'is done' }]);
      const received = await queue.receive({ MaxNumberOfMessages: 10 });
      await queue.delete(received.find(({ Body }) => Body === 'is done'));

      // Longer than the time-out: SQS moves a message when somebody would receive it.
      expect(await queue.receive({ WaitTimeSeconds: 3 })).toEqual([]);

      const letters = await deadLetters.receive({ WaitTimeSeconds: 5, MaxNumberOfMessages: 10 });
      expect(letters.map(({ Body }) => Body)).toEqual(['lapses']);
    });
  });

  describe('message groups', () => {
    it('do not delay each other', async (test) => {
      skipGap(test, getEngine(), 'fairGroups');
      const queue = await openQueue({ VisibilityTimeout: '60' });
      for (let sent = 0; sent < 4; sent++) {
        await queue.sendBatch(Array(10).fill({ MessageBody: 'noisy', MessageGroupId: 'noisy' }));
      }
      await queue.receive({ MaxNumberOfMessages: 10 });
      await queue.sendBatch([
        { MessageBody: 'quiet', MessageGroupId: 'quiet' },
        { MessageBody: 'calm', MessageGroupId: 'calm' },
      ]);

      const next = await queue.receive({ MaxNumberOfMessages: 2 });

      expect(next.map(({ Body }) => Body).sort()).toEqual(['calm', 'quiet']);
    });

    it('do not make their messages wait for each other, as those of a FIFO queue would', async () => {
      const queue = await openQueue({ VisibilityTimeout: '60' });
      const messages = ['a', 'b'].map((MessageBody) => ({ MessageBody, MessageGroupId: 'prod' }));
      await queue.sendBatch(messages);
      const received = [...(await queue.receive()), ...(await queue.receive())];
      expect(received.map(({ Body }) => Body).sort()).toEqual(['a', 'b']);
    });

    it('have names of up to 128 letters, digits and punctuation', async () => {
      const queue = await openQueue();
      const name = `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`.padEnd(128, 'x');
      await queue.send('x', { MessageGroupId: name });

      const [message] = await queue.receive({ MessageSystemAttributeNames: ['MessageGroupId'] });

      expect(message?.Attributes?.MessageGroupId).toBe(name);
      await expect(queue.send('x', { MessageGroupId: `${name}x` })).rejects.toMatchObject(
        refusal(getEngine(), /^InvalidParameterValue$/),
      );
    });
  });

  it('loses no message and hands out none twice, whatever its users do in whatever order', async () => {
    const queue = await openQueue({ VisibilityTimeout: '600' });
    const step = fc.record({
      action: fc.constantFrom('send', 'receive', 'receive', 'delete', 'show'),
      count: fc.integer({ min: 1, max: 10 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        const waiting = new Set<string>();
        const held = new Map<string, Message>();
        for (const { action, count } of steps) {
          if (action === 'send') await send(queue, count, waiting);
          else if (action === 'receive') await receive(queue, count, { waiting, held });
          else await settle(queue, count, { waiting, held, action });
        }
        for (const message of held.values()) await queue.delete(message);
        while (waiting.size > 0) {
          const drained = new Map<string, Message>();
          await receive(queue, 10, { waiting, held: drained });
          expect(drained.size).toBeGreaterThan(0);
          for (const message of drained.values()) await queue.delete(message);
        }
        expect(await queue.receive()).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
}

/** What a queue must hold: the bodies that wait, and the messages that receivers have. */
interface QueueModel {
  readonly waiting: Set<string>;
  readonly held: Map<string, Message>;
}

async function send(queue: TestQueue, count: number, waiting: Set<string>): Promise<void> {
  const bodies = Array.from({ length: count }, () => randomUUID());
  const messages = bodies.map((MessageBody, index) => ({
    MessageBody,
    MessageGroupId: `group-${index % 3}`,
  }));
  await queue.sendBatch(messages);
  for (const body of bodies) waiting.add(body);
}

async function receive(queue: TestQueue, count: number, { waiting, held }: QueueModel): Promise<void> {
  const messages = await queue.receive({ MaxNumberOfMessages: count });
  expect(messages.length).toBeLessThanOrEqual(count);
  for (const message of messages) {
    const body = message.Body ?? '';
    expect(waiting.delete(body)).toBe(true);
    held.set(body, message);
  }
}

/** Deletes or shows some messages that receivers have. */
async function settle(
  queue: TestQueue,
  count: number,
  { waiting, held, action }: QueueModel & { action: 'delete' | 'show' },
): Promise<void> {
  for (const [body, message] of [...held].slice(0, count)) {
    held.delete(body);
    if (action === 'delete') await queue.delete(message);
    else await queue.hide(message, 0);
    if (action === 'show') waiting.add(body);
  }
}

/** Both receipts of one message, of which the second counts. */
async function receiveTwice(queue: TestQueue): Promise<readonly (Message | undefined)[]> {
  await queue.send('twice');
  const [first] = await queue.receive();
  await queue.hide(first, 0);
  const [second] = await queue.receive();
  return [first, second];
}
