import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Logger } from '#core/logger.ts';
import type { Invoker } from './invoker.ts';
import { localAccountId, localRegion } from './local-aws.ts';

/** Messages that SQS hands out at once. */
const maximumReceive = 10;

/** Pause after SQS failed to answer, in milliseconds. */
const failurePauseMs = 1000;

/** What sends commands to SQS. */
export type QueueClient = Pick<SQSClient, 'send'>;

/** A function that is fed by a queue. */
export interface EventSource {
  readonly queueName: string;
  readonly queueUrl: string;
  /** The function's module below `functions/`, without extension. */
  readonly module: string;
  /** Messages handed to one invocation. */
  readonly batchSize: number;
  /** Invocations at once. */
  readonly concurrency: number;
  readonly timeoutSeconds: number;
}

/** How to feed functions. */
export interface StartWorkersOptions {
  readonly sources: readonly EventSource[];
  readonly sqs: QueueClient;
  readonly invoker: Invoker;
  readonly log: Logger;
}

/**
 * Feeds functions from their queues, as Lambda's event source mappings do: messages that a function takes are
 * deleted, those it names in `batchItemFailures`, or all when it throws, come again after their visibility time-out.
 *
 * Each queue has one outstanding long poll for all its free workers, so that idle queues cost nothing. Disposing
 * stops receiving; invocations under way go on.
 */
export function startWorkers({ sources, sqs, invoker, log }: StartWorkersOptions): AsyncDisposable {
  const stopping = new AbortController();
  const loops = sources.map((source) => new Poller({ source, sqs, invoker, log }).run(stopping.signal));
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

interface PollerOptions extends Omit<StartWorkersOptions, 'sources'> {
  readonly source: EventSource;
}

class Poller {
  readonly #source: EventSource;
  readonly #client: QueueClient;
  readonly #invoker: Invoker;
  readonly #log: Logger;
  #free: number;
  /** Wakes the loop when it waits for a free worker. */
  #wake: () => void = () => undefined;

  constructor({ source, sqs, invoker, log }: PollerOptions) {
    this.#source = source;
    this.#client = sqs;
    this.#invoker = invoker;
    this.#log = log;
    this.#free = source.concurrency;
  }

  /** Receives until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake());
    while (!signal.aborted) {
      if (this.#free === 0) await this.#waitForWorker();
      else await this.#poll(signal);
    }
  }

  async #waitForWorker(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  async #poll(signal: AbortSignal): Promise<void> {
    try {
      const messages = await this.#receive(signal);
      for (let start = 0; start < messages.length; start += this.#source.batchSize) {
        void this.#work(messages.slice(start, start + this.#source.batchSize));
      }
      // The functions go first: their first calls are on somebody's way to a result, the next poll is not.
      await nextTurn();
    } catch (error) {
      if (signal.aborted) return;
      this.#log.error('a queue cannot be read', { queue: this.#source.queueName, error });
      await sleep(failurePauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #receive(signal: AbortSignal): Promise<readonly Message[]> {
    const command = new ReceiveMessageCommand({
      QueueUrl: this.#source.queueUrl,
      MaxNumberOfMessages: Math.min(maximumReceive, this.#free * this.#source.batchSize),
      WaitTimeSeconds: 20,
      MessageSystemAttributeNames: ['All'],
    });
    const { Messages } = await this.#client.send(command, { abortSignal: signal, requestTimeout: 30_000 });
    return Messages ?? [];
  }

  async #work(messages: readonly Message[]): Promise<void> {
    this.#free -= 1;
    try {
      await this.#delete(await this.#invoke(messages));
    } catch (error) {
      this.#log.error('messages cannot be deleted', { queue: this.#source.queueName, error });
    } finally {
      this.#free += 1;
      this.#wake();
    }
  }

  /** @returns the messages that the function took */
  async #invoke(messages: readonly Message[]): Promise<readonly Message[]> {
    const { module, timeoutSeconds, queueName } = this.#source;
    const event = toSqsEvent(messages, queueName);
    try {
      const answer = await this.#invoker.invoke({ module, event, timeoutSeconds });
      const failed = new Set(
        (answer as SQSBatchResponse | undefined)?.batchItemFailures?.map(
          ({ itemIdentifier }) => itemIdentifier,
        ),
      );
      return messages.filter(({ MessageId }) => !failed.has(MessageId ?? ''));
    } catch {
      // The invoker has logged it. The messages come again.
      return [];
    }
  }

  async #delete(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await this.#client.send(
      new DeleteMessageBatchCommand({ QueueUrl: this.#source.queueUrl, Entries: entries }),
    );
  }
}

function toSqsEvent(messages: readonly Message[], queueName: string): SQSEvent {
  return { Records: messages.map((message) => toRecord(message, queueName)) };
}

function toRecord(message: Message, queueName: string): SQSRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: { ...message.Attributes } as unknown as SQSRecord['attributes'],
    messageAttributes: {},
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: toQueueArn(queueName),
    awsRegion: localRegion,
  };
}

/** ARN of a local queue. */
export function toQueueArn(queueName: string): string {
  return `arn:aws:sqs:${localRegion}:${localAccountId}:${queueName}`;
}
