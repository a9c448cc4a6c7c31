import type { SQSClientConfig } from '@aws-sdk/client-sqs';
import { expect, type TestContext } from 'vitest';

/** Something that SQS does by its documentation, and that an engine may lack. */
export type QueueGap =
  /** Message groups of standard queues do not delay each other, since July 2025. */
  | 'fairGroups'
  /** Deleting with an old receipt, or again with the same, succeeds, whether or not it deletes anything. */
  | 'oldReceipts'
  /** A batch without entries is refused. */
  | 'emptyBatch'
  /** Errors have the names of the API reference. */
  | 'errorNames';

/** An SQS to run the contract on. */
export interface QueueEngine {
  readonly endpoint: string;
  /** What its clients are made with besides. Default: `localClientOptions`. */
  readonly clientOptions?: SQSClientConfig;
  /** Limit of a message: 1 MiB at AWS since August 2025. */
  readonly maximumMessageBytes: number;
  /** What is not asked of it, each with what it does instead. */
  readonly gaps: { readonly [gap in QueueGap]?: string };
}

/** Skips a test, visibly, on an engine that has a gap. */
export function skipGap(test: TestContext, engine: QueueEngine, gap: QueueGap): void {
  test.skip(engine.gaps[gap] !== undefined, engine.gaps[gap]);
}

/** Matches the error of a request that is the sender's fault, by its name where the engine has AWS' names. */
export function refusal(engine: QueueEngine, name: RegExp): object {
  const { errorNames } = engine.gaps;
  return {
    $metadata: { httpStatusCode: 400 },
    ...(errorNames === undefined && { name: expect.stringMatching(name) }),
  };
}
