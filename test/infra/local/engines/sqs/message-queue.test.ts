import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MessageQueue } from '#infra/local/engines/sqs/message-queue.ts';
import { parseMessageDraft } from '#infra/local/engines/sqs/messages.ts';
import { defaultQueueAttributes } from '#infra/local/engines/sqs/queue-attributes.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('a message expires after the retention period, in whatever state', async () => {
  const queue = openQueue({ MessageRetentionPeriod: 60, VisibilityTimeout: 3600 });
  send(queue, 'visible');
  send(queue, 'delayed', 45);
  send(queue, 'received');
  await receive(queue, 3600);

  await vi.advanceTimersByTimeAsync(59_000);
  expect(queue.counts).toEqual({ visible: 2, delayed: 0, inFlight: 1 });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(queue.counts).toEqual({ visible: 0, delayed: 0, inFlight: 1 });
  await vi.advanceTimersByTimeAsync(3600_000);
  expect(queue.counts).toEqual({ visible: 0, delayed: 0, inFlight: 0 });
});

test('an idle queue keeps no timer', async () => {
  const queue = openQueue({});
  send(queue, 'done', 10);
  await vi.advanceTimersByTimeAsync(10_000);
  const [receipt] = await queue.receive({ limit: 1, visibilityTimeoutSeconds: 30, waitSeconds: 0 });
  queue.delete(receipt?.handle ?? '');
  expect(vi.getTimerCount()).toBe(0);
});

test('one timer serves a thousand messages', () => {
  const queue = openQueue({});
  for (let sent = 0; sent < 1000; sent++) send(queue, 'x', 900 - (sent % 900));
  expect(vi.getTimerCount()).toBe(1);
});

test('what is due is handed out, whether or not its timer came to fire', async () => {
  const queue = openQueue({});
  send(queue, 'again');
  const options = { limit: 1, visibilityTimeoutSeconds: 0, waitSeconds: 0 };
  for (let turn = 0; turn < 3; turn++) expect(await queue.receive(options)).toHaveLength(1);
});

test('a receiver that goes away while it waits takes no message with it', async () => {
  const queue = openQueue({});
  let cancel = () => {};
  const gone = queue.receive({
    limit: 1,
    visibilityTimeoutSeconds: 30,
    waitSeconds: 20,
    onWait: (end) => {
      cancel = end;
    },
  });
  cancel();
  send(queue, 'left');
  expect(await gone).toEqual([]);
  expect(await receive(queue, 30)).toEqual(['left']);
});

test('an old receipt of a message that was received again neither deletes nor hides it', async () => {
  const queue = openQueue({});
  send(queue, 'twice');
  const options = { limit: 1, visibilityTimeoutSeconds: 1, waitSeconds: 0 };
  const [old] = await queue.receive(options);
  await vi.advanceTimersByTimeAsync(1_000);
  await queue.receive(options);

  queue.delete(old?.handle ?? '');
  expect(() => queue.changeVisibility(old?.handle ?? '', 0)).toThrow('Message does not exist');

  expect(queue.counts.inFlight).toBe(1);
});

test('receives in the source queue do not count in the dead-letter queue', async () => {
  const last = openQueue({});
  const middle = openQueue({ RedrivePolicy: { deadLetterTargetArn: last.arn, maxReceiveCount: 2 } }, last);
  const first = openQueue({ RedrivePolicy: { deadLetterTargetArn: middle.arn, maxReceiveCount: 3 } }, middle);
  send(first, 'poison');
  for (let turn = 0; turn < 3; turn++) await receive(first, 0);
  expect(await receive(first, 0)).toEqual([]);
  expect(await receive(middle, 0)).toEqual(['poison']);
  expect(await receive(middle, 0)).toEqual(['poison']);
  expect(await receive(middle, 0)).toEqual([]);
  expect(last.counts.visible).toBe(1);
});

type Attributes = Partial<typeof defaultQueueAttributes>;

function openQueue(attributes: Attributes, target?: MessageQueue): MessageQueue {
  const name = `queue-${Math.random().toString(36).slice(2)}`;
  return new MessageQueue({
    name,
    arn: `arn:aws:sqs:us-east-1:000000000000:${name}`,
    attributes: { ...defaultQueueAttributes, ...attributes },
    findQueue: (arn) => (target?.arn === arn ? target : undefined),
  });
}

function send(queue: MessageQueue, body: string, delaySeconds = 0): void {
  queue.send([parseMessageDraft({ MessageBody: body, DelaySeconds: delaySeconds })]);
}

/** Receives one message; with a visibility time-out of 0 it is visible again after the timers' next turn. */
async function receive(queue: MessageQueue, visibilityTimeoutSeconds: number): Promise<string[]> {
  const receipts = await queue.receive({ limit: 1, visibilityTimeoutSeconds, waitSeconds: 0 });
  await vi.advanceTimersByTimeAsync(0);
  return receipts.map(({ message }) => message.body);
}
