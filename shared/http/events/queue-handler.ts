import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseJson } from '#core/json.ts';
import type { LogFields, Logger } from '#core/logger.ts';
import { makeFunction, type ServiceFunction } from '#platform/services/function.ts';
import { runWithLogFields, toInvocationFields } from '#platform/services/logger.ts';
import type { Services } from '#platform/services/services.ts';
import { CheckpointError } from '#tasks/run-task.ts';

/** How to read the messages of a queue. */
export interface MessageKind<B extends object> {
  /** The message in a body parsed from JSON; undefined for any other body. */
  parse(body: unknown): B | undefined;
  /** The log fields that identify a message. */
  toLogFields(body: B): LogFields;
}

/** How a message was received. */
export interface Delivery {
  readonly receiptHandle: string;
  /** Number of deliveries of the message so far, including this one. */
  readonly deliveries: number;
  /** Aborted with a CheckpointError when the function's time is about to end. */
  readonly stop: AbortSignal;
  /** Milliseconds left of the function's time. A local runtime that drains shortens it. */
  getRemainingMs(): number;
}

/** A received message as workers see it: its body, and its delivery. */
export type QueueMessage<B extends object> = B & Delivery;

/** A Lambda function behind an SQS event source that reports failures message by message. */
export type QueueFunction = ServiceFunction<(event: SQSEvent, context: Context) => Promise<SQSBatchResponse>>;

/** Milliseconds before the end of the function's time at which workers stop at a checkpoint. */
const stopBeforeEndMs = 30_000;

/** Milliseconds between two checks of the remaining time: a local runtime that drains shortens it. */
const checkIntervalMs = 500;

/**
 * Makes a Lambda function from a worker's logic. A message whose worker throws is reported as failed and comes again. A malformed one would
 * always fail: it is logged and removed from the queue.
 *
 * @param open opens what the worker uses; called with each invocation
 */
export function queueHandler<B extends object, C extends { readonly log: Logger }>(
  kind: MessageKind<B>,
  open: (services: Services) => C | Promise<C>,
  run: (message: QueueMessage<B>, services: C) => Promise<void>,
): QueueFunction {
  return makeFunction(
    (all) => (event, lambda) =>
      runWithLogFields(toInvocationFields(lambda), async () => {
        const services = await open(all);
        return runBatch(event, { kind, services, run, lambda });
      }),
  );
}

interface MessageWorker<B extends object, C> {
  readonly kind: MessageKind<B>;
  readonly services: C;
  readonly run: (message: QueueMessage<B>, services: C) => Promise<void>;
  readonly lambda: Context;
}

async function runBatch<B extends object, C extends { readonly log: Logger }>(
  { Records }: SQSEvent,
  worker: MessageWorker<B, C>,
): Promise<SQSBatchResponse> {
  const stop = startStopSignal(worker.lambda);
  try {
    const failed = await Promise.all(
      Records.map((record) => runRecord(record, { ...worker, stop: stop.signal })),
    );
    return {
      batchItemFailures: failed.filter((id) => id !== undefined).map((id) => ({ itemIdentifier: id })),
    };
  } finally {
    stop[Symbol.dispose]();
  }
}

/** The id of the message when its worker failed. */
async function runRecord<B extends object, C extends { readonly log: Logger }>(
  record: SQSRecord,
  worker: MessageWorker<B, C> & { readonly stop: AbortSignal },
): Promise<string | undefined> {
  const { kind, services, run, lambda, stop } = worker;
  const body = kind.parse(parseJson(record.body));
  if (body === undefined) {
    services.log.error('malformed message taken off the queue', { messageId: record.messageId });
    return undefined;
  }
  const deliveries = Number(record.attributes.ApproximateReceiveCount) || 1;
  const getRemainingMs = (): number => lambda.getRemainingTimeInMillis();
  const message = { ...body, receiptHandle: record.receiptHandle, deliveries, stop, getRemainingMs };
  return runWithLogFields(kind.toLogFields(body), async () => {
    try {
      await run(message, services);
      return undefined;
    } catch (error) {
      services.log.error('message failed and will come again', { messageId: record.messageId, error });
      return record.messageId;
    }
  });
}

/** A signal for the end of a Lambda's time, with room to store a checkpoint. */
function startStopSignal(lambda: Context): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const check = (): void => {
    if (lambda.getRemainingTimeInMillis() > stopBeforeEndMs) return;
    controller.abort(new CheckpointError("the worker's time is over; another one goes on"));
  };
  const timer = setInterval(check, checkIntervalMs);
  return { signal: controller.signal, [Symbol.dispose]: () => clearInterval(timer) };
}
