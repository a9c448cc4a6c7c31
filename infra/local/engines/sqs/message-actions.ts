import type { JsonObject } from '#core/json.ts';
import { localAccountId } from '#infra/server/functions/local-aws.ts';
import { AwsError, type CallOptions } from '../engine.ts';
import { findInteger, getText, getTexts } from '../engine-input.ts';
import { attempt, getBatch, toBatchFailure } from './batches.ts';
import type { MessageQueue, Receipt, StoredMessage } from './message-queue.ts';
import { type MessageDraft, parseMessageDraft } from './messages.ts';
import { maximumMessageBytes, visibilityTimeoutRange } from './queue-attributes.ts';

/** SendMessage. */
export function sendMessage(queue: MessageQueue, input: JsonObject): object {
  const draft = parseMessageDraft(input);
  checkSize(draft);
  const [message] = queue.send([draft]);
  return message === undefined ? {} : toSendResult(message);
}

/** SendMessageBatch: entry by entry, as one wake-up of waiting receivers. */
export function sendMessageBatch(queue: MessageQueue, input: JsonObject): object {
  const drafts = new Map<string, MessageDraft>();
  const failed: object[] = [];
  for (const entry of getBatch(input)) {
    const problem = attempt(() => {
      const draft = parseMessageDraft(entry);
      checkSize(draft);
      drafts.set(getText(entry, 'Id'), draft);
    });
    if (problem !== undefined) failed.push(toBatchFailure(entry, problem));
  }
  const size = [...drafts.values()].reduce((sum, draft) => sum + draft.size, 0);
  if (size > maximumMessageBytes) {
    const reason = `Batch requests cannot be longer than ${maximumMessageBytes} bytes. You have sent ${size} bytes.`;
    throw new AwsError('BatchRequestTooLong', reason);
  }
  const ids = [...drafts.keys()];
  const messages = queue.send([...drafts.values()]);
  const successful = messages.map((message, index) => ({ Id: ids[index], ...toSendResult(message) }));
  return { Successful: successful, Failed: failed };
}

function checkSize({ size }: MessageDraft): void {
  if (size <= maximumMessageBytes) return;
  throw new AwsError(
    'InvalidParameterValue',
    `One or more parameters are invalid. Reason: Message must be shorter than ${maximumMessageBytes} bytes.`,
  );
}

function toSendResult({ id, bodyMd5 }: StoredMessage): object {
  return { MessageId: id, MD5OfMessageBody: bodyMd5 };
}

/** ReceiveMessage. @param options ends the wait when the receiver goes away @throws the reason of the signal then */
export async function receiveMessage(
  queue: MessageQueue,
  input: JsonObject,
  { signal }: CallOptions,
): Promise<object> {
  const leaving = Promise.withResolvers<void>();
  const leave = (): void => leaving.resolve();
  signal?.addEventListener('abort', leave);
  try {
    const receipts = await queue.receive({
      limit: findInteger(input, 'MaxNumberOfMessages', { from: 1, to: 10 }) ?? 1,
      visibilityTimeoutSeconds:
        findInteger(input, 'VisibilityTimeout', visibilityTimeoutRange) ?? queue.attributes.VisibilityTimeout,
      waitSeconds: findInteger(input, 'WaitTimeSeconds', { from: 0, to: 20 }) ?? 0,
      onWait: (cancel) => void leaving.promise.then(cancel),
    });
    // Messages delivered as the caller left are hidden for a while, as those of any consumer that dies.
    if (receipts.length === 0) signal?.throwIfAborted();
    return toMessages(receipts, input);
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

function toMessages(receipts: readonly Receipt[], input: JsonObject): object {
  const systemNames = [
    ...getTexts(input, 'AttributeNames'),
    ...getTexts(input, 'MessageSystemAttributeNames'),
  ];
  const isWanted = (name: string) => systemNames.includes('All') || systemNames.includes(name);
  const Messages = receipts.map(({ message, handle }) => ({
    MessageId: message.id,
    ReceiptHandle: handle,
    Body: message.body,
    MD5OfBody: message.bodyMd5,
    Attributes: Object.fromEntries(
      Object.entries(toSystemAttributes(message)).filter(([name]) => isWanted(name)),
    ),
  }));
  return { Messages };
}

function toSystemAttributes(message: StoredMessage): { [name: string]: string } {
  return {
    SenderId: localAccountId,
    SentTimestamp: String(message.sentAtMs),
    ApproximateReceiveCount: String(message.receiveCount),
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAtMs),
    ...(message.groupId !== undefined && { MessageGroupId: message.groupId }),
    ...(message.deadLetterSource !== undefined && { DeadLetterQueueSourceArn: message.deadLetterSource }),
  };
}

/** DeleteMessage, and an entry of its batch. */
export function deleteMessage(queue: MessageQueue, input: JsonObject): object {
  queue.delete(getText(input, 'ReceiptHandle'));
  return {};
}

/** ChangeMessageVisibility. */
export function changeMessageVisibility(queue: MessageQueue, input: JsonObject): object {
  const seconds = findInteger(input, 'VisibilityTimeout', visibilityTimeoutRange);
  if (seconds === undefined) {
    throw new AwsError('MissingParameter', 'The request must contain the parameter VisibilityTimeout.');
  }
  queue.changeVisibility(getText(input, 'ReceiptHandle'), seconds);
  return {};
}
