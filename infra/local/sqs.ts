import type { JsonObject } from '../../shared/core/json.ts';
import { AwsError } from './aws-json-error.ts';
import { findInteger, findText, getObject, getObjects, getText, getTexts } from './aws-json-input.ts';
import { type AwsAction, type AwsJsonServer, startAwsJsonServer } from './aws-json-server.ts';
import { localAccountId, localRegion } from './local-aws.ts';
import {
  defaultQueueAttributes,
  formatQueueAttributes,
  maximumMessageBytes,
  parseQueueAttributes,
  type QueueAttributes,
  visibilityTimeoutRange,
} from './sqs-attributes.ts';
import {
  hashMessageAttributes,
  type MessageDraft,
  parseMessageDraft,
  pickAttributes,
} from './sqs-message.ts';
import { MessageQueue, type Receipt, type StoredMessage } from './sqs-queue.ts';

const queryErrorPrefix = 'AWS.SimpleQueueService.';

const queryErrorCodes = {
  BatchEntryIdsNotDistinct: `${queryErrorPrefix}BatchEntryIdsNotDistinct`,
  BatchRequestTooLong: `${queryErrorPrefix}BatchRequestTooLong`,
  EmptyBatchRequest: `${queryErrorPrefix}EmptyBatchRequest`,
  InvalidBatchEntryId: `${queryErrorPrefix}InvalidBatchEntryId`,
  MessageNotInflight: `${queryErrorPrefix}MessageNotInflight`,
  QueueDoesNotExist: `${queryErrorPrefix}NonExistentQueue`,
  QueueNameExists: 'QueueAlreadyExists',
  TooManyEntriesInBatchRequest: `${queryErrorPrefix}TooManyEntriesInBatchRequest`,
  UnsupportedOperation: `${queryErrorPrefix}UnsupportedOperation`,
};

/** A running SQS. */
export interface SqsServer extends AwsJsonServer {
  /**
   * Sends a message as another local service does, for example EventBridge to a target.
   *
   * @throws AwsError QueueDoesNotExist
   */
  sendTo(arn: string, body: string): void;
}

/**
 * Starts SQS on a free port of 127.0.0.1: standard queues with long polling, delays, visibility time-outs, fairness
 * between message groups and dead-letter queues, over AWS' JSON protocol. FIFO queues are refused.
 *
 * Messages live in memory and end with the process.
 */
export async function startSqs(): Promise<SqsServer> {
  const queues = new Map<string, MessageQueue>();
  const server = await startAwsJsonServer((url) => ({
    target: 'AmazonSQS',
    version: '1.0',
    errorNamespace: 'com.amazonaws.sqs',
    queryErrorCodes,
    actions: makeActions({ queues, url }),
  }));
  return {
    url: server.url,
    sendTo(arn, body) {
      const queue = findByArn(queues, arn);
      if (queue === undefined) throw refuseUnknownQueue(arn);
      queue.send([parseMessageDraft({ MessageBody: body })]);
    },
    async [Symbol.asyncDispose]() {
      for (const queue of queues.values()) queue.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

interface Service {
  readonly queues: Map<string, MessageQueue>;
  readonly url: string;
}

function makeActions(service: Service): { [name: string]: AwsAction } {
  const onQueue =
    (act: (queue: MessageQueue, input: JsonObject) => object): AwsAction =>
    (input) =>
      act(getQueue(service, input), input);
  return {
    CreateQueue: (input) => createQueue(service, input),
    GetQueueUrl: (input) => ({
      QueueUrl: toUrl(service, getQueueByName(service, getText(input, 'QueueName'))),
    }),
    ListQueues: (input) => listQueues(service, input),
    GetQueueAttributes: onQueue(getQueueAttributes),
    SetQueueAttributes: (input) => setQueueAttributes(service, input),
    SendMessage: onQueue(sendMessage),
    SendMessageBatch: onQueue(sendMessageBatch),
    ReceiveMessage: (input, call) => receiveMessage(getQueue(service, input), input, call.onClose),
    DeleteMessage: onQueue(deleteMessage),
    DeleteMessageBatch: onQueue((queue, input) => doEach(input, (entry) => deleteMessage(queue, entry))),
    ChangeMessageVisibility: onQueue(changeMessageVisibility),
    ChangeMessageVisibilityBatch: onQueue((queue, input) =>
      doEach(input, (entry) => changeMessageVisibility(queue, entry)),
    ),
    PurgeQueue: onQueue((queue) => {
      queue.purge();
      return {};
    }),
  };
}

function createQueue(service: Service, input: JsonObject): object {
  const name = getText(input, 'QueueName');
  if (!/^[\w-]{1,80}$/.test(name)) {
    const reason = 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length';
    throw new AwsError('InvalidParameterValue', `${reason}. FIFO queues are not served here.`);
  }
  const attributes = { ...defaultQueueAttributes, ...parseQueueAttributes(getObject(input, 'Attributes')) };
  const existing = service.queues.get(name);
  if (existing === undefined) {
    const arn = `arn:aws:sqs:${localRegion}:${localAccountId}:${name}`;
    checkRedrive(service, arn, attributes);
    const findQueue = (target: string) => findByArn(service.queues, target);
    const queue = new MessageQueue({ name, arn, attributes, findQueue });
    service.queues.set(name, queue);
    return { QueueUrl: toUrl(service, queue) };
  }
  if (!hasAttributes(existing, parseQueueAttributes(getObject(input, 'Attributes')))) {
    throw new AwsError(
      'QueueNameExists',
      'A queue already exists with the same name and a different value for attribute(s).',
    );
  }
  return { QueueUrl: toUrl(service, existing) };
}

function hasAttributes(queue: MessageQueue, attributes: Partial<QueueAttributes>): boolean {
  const changed: QueueAttributes = { ...queue.attributes, ...attributes };
  return (
    JSON.stringify(formatQueueAttributes(changed)) === JSON.stringify(formatQueueAttributes(queue.attributes))
  );
}

function checkRedrive(service: Service, arn: string, { RedrivePolicy }: Partial<QueueAttributes>): void {
  const target = RedrivePolicy?.deadLetterTargetArn;
  if (target === undefined || (target !== arn && findByArn(service.queues, target) !== undefined)) return;
  throw new AwsError(
    'InvalidParameterValue',
    `Value ${JSON.stringify(RedrivePolicy)} for parameter RedrivePolicy is invalid. ` +
      'Reason: Dead letter target does not exist or is the queue itself.',
  );
}

function listQueues(service: Service, input: JsonObject): object {
  const prefix = findText(input, 'QueueNamePrefix') ?? '';
  const queues = [...service.queues.values()].filter(({ name }) => name.startsWith(prefix));
  return { QueueUrls: queues.map((queue) => toUrl(service, queue)) };
}

function getQueueAttributes(queue: MessageQueue, input: JsonObject): object {
  const all: { [name: string]: string } = {
    ...formatQueueAttributes(queue.attributes),
    QueueArn: queue.arn,
    ApproximateNumberOfMessages: String(queue.counts.visible),
    ApproximateNumberOfMessagesNotVisible: String(queue.counts.inFlight),
    ApproximateNumberOfMessagesDelayed: String(queue.counts.delayed),
    CreatedTimestamp: toSeconds(queue.createdAtMs),
    LastModifiedTimestamp: toSeconds(queue.modifiedAtMs),
  };
  const names = getTexts(input, 'AttributeNames');
  if (names.includes('All')) return { Attributes: all };
  const unknown = names.find((name) => name !== 'RedrivePolicy' && !Object.hasOwn(all, name));
  if (unknown !== undefined) throw new AwsError('InvalidAttributeName', `Unknown Attribute ${unknown}.`);
  return { Attributes: Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name))) };
}

function setQueueAttributes(service: Service, input: JsonObject): object {
  const queue = getQueue(service, input);
  const changes = parseQueueAttributes(getObject(input, 'Attributes'));
  checkRedrive(service, queue.arn, changes);
  queue.setAttributes(changes);
  return {};
}

function sendMessage(queue: MessageQueue, input: JsonObject): object {
  const draft = parseMessageDraft(input);
  checkSize(queue, draft);
  const [message] = queue.send([draft]);
  return message === undefined ? {} : toSendResult(message);
}

function sendMessageBatch(queue: MessageQueue, input: JsonObject): object {
  const drafts = new Map<string, MessageDraft>();
  const failed: object[] = [];
  for (const entry of getBatch(input)) {
    const problem = attempt(() => {
      const draft = parseMessageDraft(entry);
      checkSize(queue, draft);
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

function checkSize(queue: MessageQueue, { size }: MessageDraft): void {
  const limit = queue.attributes.MaximumMessageSize;
  if (size <= limit) return;
  throw new AwsError(
    'InvalidParameterValue',
    `One or more parameters are invalid. Reason: Message must be shorter than ${limit} bytes.`,
  );
}

function toSendResult(message: StoredMessage): object {
  return {
    MessageId: message.id,
    MD5OfMessageBody: message.bodyMd5,
    MD5OfMessageAttributes: message.attributesMd5,
    ...(message.traceHeader !== undefined && {
      MD5OfMessageSystemAttributes: hashTraceHeader(message.traceHeader),
    }),
  };
}

function hashTraceHeader(traceHeader: string): string | undefined {
  return hashMessageAttributes({ AWSTraceHeader: { DataType: 'String', StringValue: traceHeader } });
}

async function receiveMessage(
  queue: MessageQueue,
  input: JsonObject,
  onWait: (cancel: () => void) => void,
): Promise<object> {
  const receipts = await queue.receive({
    limit: findInteger(input, 'MaxNumberOfMessages', { from: 1, to: 10 }) ?? 1,
    visibilityTimeoutSeconds:
      findInteger(input, 'VisibilityTimeout', visibilityTimeoutRange) ?? queue.attributes.VisibilityTimeout,
    waitSeconds:
      findInteger(input, 'WaitTimeSeconds', { from: 0, to: 20 }) ??
      queue.attributes.ReceiveMessageWaitTimeSeconds,
    onWait,
  });
  const systemNames = [
    ...getTexts(input, 'AttributeNames'),
    ...getTexts(input, 'MessageSystemAttributeNames'),
  ];
  const names = getTexts(input, 'MessageAttributeNames');
  return { Messages: receipts.map((receipt) => toReceivedMessage(receipt, systemNames, names)) };
}

function toReceivedMessage(
  { message, handle }: Receipt,
  systemNames: readonly string[],
  names: readonly string[],
): object {
  const attributes = pickAttributes(message.attributes, names);
  return {
    MessageId: message.id,
    ReceiptHandle: handle,
    Body: message.body,
    MD5OfBody: message.bodyMd5,
    Attributes: pickAttributes(toSystemAttributes(message), systemNames),
    ...(Object.keys(attributes).length > 0 && {
      MessageAttributes: attributes,
      MD5OfMessageAttributes: hashMessageAttributes(attributes),
    }),
  };
}

function toSystemAttributes(message: StoredMessage): { [name: string]: string } {
  return {
    SenderId: localAccountId,
    SentTimestamp: String(message.sentAtMs),
    ApproximateReceiveCount: String(message.receiveCount),
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAtMs),
    ...(message.groupId !== undefined && { MessageGroupId: message.groupId }),
    ...(message.deadLetterSource !== undefined && { DeadLetterQueueSourceArn: message.deadLetterSource }),
    ...(message.traceHeader !== undefined && { AWSTraceHeader: message.traceHeader }),
  };
}

function deleteMessage(queue: MessageQueue, input: JsonObject): object {
  queue.delete(getText(input, 'ReceiptHandle'));
  return {};
}

function changeMessageVisibility(queue: MessageQueue, input: JsonObject): object {
  const seconds = findInteger(input, 'VisibilityTimeout', visibilityTimeoutRange);
  if (seconds === undefined) {
    throw new AwsError('MissingParameter', 'The request must contain the parameter VisibilityTimeout.');
  }
  queue.changeVisibility(getText(input, 'ReceiptHandle'), seconds);
  return {};
}

/** Runs an action for each entry of a batch. */
function doEach(input: JsonObject, act: (entry: JsonObject) => object): object {
  const successful: object[] = [];
  const failed: object[] = [];
  for (const entry of getBatch(input)) {
    const problem = attempt(() => act(entry));
    if (problem === undefined) successful.push({ Id: entry['Id'] });
    else failed.push(toBatchFailure(entry, problem));
  }
  return { Successful: successful, Failed: failed };
}

/** The entries of a batch: 1 to 10 with distinct ids. */
function getBatch(input: JsonObject): readonly JsonObject[] {
  const entries = getObjects(input, 'Entries');
  const ids = entries.map((entry) => getText(entry, 'Id'));
  if (entries.length === 0) throw new AwsError('EmptyBatchRequest', 'There should be at least one entry.');
  if (entries.length > 10) {
    const reason = `Maximum number of entries per request are 10. You have sent ${entries.length}.`;
    throw new AwsError('TooManyEntriesInBatchRequest', reason);
  }
  if (new Set(ids).size < ids.length) throw new AwsError('BatchEntryIdsNotDistinct', 'An Id is repeated.');
  if (!ids.every((id) => /^[\w-]{1,80}$/.test(id))) {
    const reason = 'A batch entry id can only contain alphanumeric characters, hyphens and underscores.';
    throw new AwsError('InvalidBatchEntryId', `${reason} It can be at most 80 letters long.`);
  }
  return entries;
}

function attempt(act: () => unknown): AwsError | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof AwsError) return error;
    throw error;
  }
}

function toBatchFailure(entry: JsonObject, { code, message, status }: AwsError): object {
  return { Id: entry['Id'], Code: code, Message: message, SenderFault: status < 500 };
}

function getQueue(service: Service, input: JsonObject): MessageQueue {
  const url = getText(input, 'QueueUrl');
  return getQueueByName(service, url.slice(url.lastIndexOf('/') + 1));
}

function getQueueByName(service: Service, name: string): MessageQueue {
  const queue = service.queues.get(name);
  if (queue === undefined) throw refuseUnknownQueue(name);
  return queue;
}

function refuseUnknownQueue(name: string): AwsError {
  return new AwsError('QueueDoesNotExist', `The specified queue '${name}' does not exist.`);
}

function findByArn(queues: ReadonlyMap<string, MessageQueue>, arn: string): MessageQueue | undefined {
  const queue = queues.get(arn.slice(arn.lastIndexOf(':') + 1));
  return queue?.arn === arn ? queue : undefined;
}

function toUrl({ url }: Service, { name }: MessageQueue): string {
  return `${url}/${localAccountId}/${name}`;
}

function toSeconds(ms: number): string {
  return String(Math.floor(ms / 1000));
}
