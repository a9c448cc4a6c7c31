import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { isJsonObject } from '../core/json.ts';
import type { Logger } from '../core/logger.ts';
import { CheckpointError } from '../core/run-task.ts';
import { runWithLogFields, toInvocationFields } from './logger.ts';

/** A received message as workers see it. */
export interface QueueMessage {
  readonly taskId: string;
  readonly receiptHandle: string;
  /** Deliveries of the message so far, this one included. */
  readonly deliveries: number;
  /** Aborted with a CheckpointError when the function's time is about to end. */
  readonly stop: AbortSignal;
}

/** A Lambda function behind an SQS event source that reports failures message by message. */
export type QueueFunction = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** Milliseconds before the end of the function's time at which workers stop at a checkpoint. */
const stopBeforeEndMs = 30_000;

/** How often the remaining time is looked at, milliseconds: a local runtime that drains shortens it. */
const checkIntervalMs = 500;

/**
 * Makes a Lambda function of a worker's logic. A message whose worker throws is reported as failed and comes again; a
 * malformed one would fail for ever: it is logged and taken off the queue.
 */
export function queueHandler<C extends { readonly log: Logger }>(
  open: () => C | Promise<C>,
  run: (message: QueueMessage, context: C) => Promise<void>,
): QueueFunction {
  return (event, lambda) =>
    runWithLogFields(toInvocationFields(lambda), async () => {
      const context = await open();
      const stop = startStopSignal(lambda);
      try {
        const failed = await Promise.all(
          event.Records.map((record) => runRecord({ record, context, run, stop: stop.signal })),
        );
        return {
          batchItemFailures: failed.filter((id) => id !== undefined).map((id) => ({ itemIdentifier: id })),
        };
      } finally {
        stop[Symbol.dispose]();
      }
    });
}

/** The id of the message when its worker failed. */
async function runRecord<C extends { readonly log: Logger }>(options: {
  record: SQSRecord;
  context: C;
  run: (message: QueueMessage, context: C) => Promise<void>;
  stop: AbortSignal;
}): Promise<string | undefined> {
  const { record, context, run, stop } = options;
  const taskId = parseTaskId(record.body);
  if (taskId === undefined) {
    context.log.error('malformed message taken off the queue', { messageId: record.messageId });
    return undefined;
  }
  const deliveries = Number(record.attributes.ApproximateReceiveCount) || 1;
  const message = { taskId, receiptHandle: record.receiptHandle, deliveries, stop };
  return runWithLogFields({ taskId }, async () => {
    try {
      await run(message, context);
      return undefined;
    } catch (error) {
      context.log.error('message failed and will come again', { messageId: record.messageId, error });
      return record.messageId;
    }
  });
}

function parseTaskId(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const taskId = isJsonObject(value) ? value['taskId'] : undefined;
    return typeof taskId === 'string' && taskId !== '' ? taskId : undefined;
  } catch {
    return undefined;
  }
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
