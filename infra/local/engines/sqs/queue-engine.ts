import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#core/json.ts';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import { AwsError, type CallOptions, type Engine, findAction } from '../engine.ts';
import { getObject, getText, getTexts } from '../engine-input.ts';
import { doEach } from './batches.ts';
import {
  changeMessageVisibility,
  deleteMessage,
  receiveMessage,
  sendMessage,
  sendMessageBatch,
} from './message-actions.ts';
import { MessageQueue } from './message-queue.ts';
import {
  defaultQueueAttributes,
  formatQueueAttributes,
  parseQueueAttributes,
  type QueueAttributes,
} from './queue-attributes.ts';

/** What URLs of queues in this process begin with: nothing listens there. */
const localQueueUrl = 'local://sqs';

type QueueAction = (input: JsonObject, options: CallOptions) => object | Promise<object>;

/**
 * The part of SQS that Busdriver needs: standard queues with long polling, delays, visibility time-outs, fairness between message groups and
 * dead-letter queues. FIFO queues are refused. Messages live in memory and end with the process.
 */
export class QueueEngine implements Engine {
  readonly #service: Service;
  readonly #actions: { readonly [name: string]: QueueAction };

  constructor({ url = localQueueUrl } = {}) {
    this.#service = { queues: new Map(), url };
    this.#actions = makeActions(this.#service);
  }

  async perform(action: string, input: object, options: CallOptions = {}): Promise<object> {
    options.signal?.throwIfAborted();
    // What commands hold is what their requests have as JSON.
    return findAction(this.#actions, action)(input as JsonObject, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const queue of this.#service.queues.values()) queue.close();
  }
}

/** URL of a queue of this process. */
export function toQueueUrl(name: string, url = localQueueUrl): string {
  return `${url}/${localAccountId}/${name}`;
}

interface Service {
  readonly queues: Map<string, MessageQueue>;
  readonly url: string;
}

function makeActions(service: Service): { readonly [name: string]: QueueAction } {
  const onQueue =
    (act: (queue: MessageQueue, input: JsonObject) => object): QueueAction =>
    (input) =>
      act(getQueue(service, input), input);
  return {
    CreateQueue: (input) => createQueue(service, input),
    GetQueueUrl: (input) => ({
      QueueUrl: toUrl(service, getQueueByName(service, getText(input, 'QueueName'))),
    }),
    GetQueueAttributes: onQueue(getQueueAttributes),
    SendMessage: onQueue(sendMessage),
    SendMessageBatch: onQueue(sendMessageBatch),
    ReceiveMessage: (input, options) => receiveMessage(getQueue(service, input), input, options),
    DeleteMessage: onQueue(deleteMessage),
    DeleteMessageBatch: onQueue((queue, input) => doEach(input, (entry) => deleteMessage(queue, entry))),
    ChangeMessageVisibility: onQueue(changeMessageVisibility),
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
  const given = parseQueueAttributes(getObject(input, 'Attributes'));
  const existing = service.queues.get(name);
  if (existing === undefined) {
    const attributes = { ...defaultQueueAttributes, ...given };
    const arn = `arn:aws:sqs:${localRegion}:${localAccountId}:${name}`;
    checkRedrive(service, arn, attributes);
    const findQueue = (target: string) => findByArn(service.queues, target);
    const queue = new MessageQueue({ name, arn, attributes, findQueue });
    service.queues.set(name, queue);
    return { QueueUrl: toUrl(service, queue) };
  }
  if (!isDeepStrictEqual({ ...existing.attributes, ...given }, existing.attributes)) {
    throw new AwsError(
      'QueueNameExists',
      'A queue already exists with the same name and a different value for attribute(s).',
    );
  }
  return { QueueUrl: toUrl(service, existing) };
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

function getQueueAttributes(queue: MessageQueue, input: JsonObject): object {
  const all: { [name: string]: string } = {
    ...formatQueueAttributes(queue.attributes),
    QueueArn: queue.arn,
    ApproximateNumberOfMessages: String(queue.counts.visible),
    ApproximateNumberOfMessagesNotVisible: String(queue.counts.inFlight),
    ApproximateNumberOfMessagesDelayed: String(queue.counts.delayed),
  };
  const names = getTexts(input, 'AttributeNames');
  if (names.includes('All')) return { Attributes: all };
  const unknown = names.find((name) => name !== 'RedrivePolicy' && !Object.hasOwn(all, name));
  if (unknown !== undefined) throw new AwsError('InvalidAttributeName', `Unknown Attribute ${unknown}.`);
  return { Attributes: Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name))) };
}

function getQueue(service: Service, input: JsonObject): MessageQueue {
  const url = getText(input, 'QueueUrl');
  return getQueueByName(service, url.slice(url.lastIndexOf('/') + 1));
}

function getQueueByName(service: Service, name: string): MessageQueue {
  const queue = service.queues.get(name);
  if (queue !== undefined) return queue;
  throw new AwsError('QueueDoesNotExist', `The specified queue '${name}' does not exist.`);
}

function findByArn(queues: ReadonlyMap<string, MessageQueue>, arn: string): MessageQueue | undefined {
  const queue = queues.get(arn.slice(arn.lastIndexOf(':') + 1));
  return queue?.arn === arn ? queue : undefined;
}

function toUrl({ url }: Service, { name }: MessageQueue): string {
  return toQueueUrl(name, url);
}
