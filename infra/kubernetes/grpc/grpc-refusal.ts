import { Metadata, type ServerErrorResponse } from '@grpc/grpc-js';
import {
  detailsMetadata,
  grpcCodes,
  type Refusal,
  RefusalCodec,
  toGrpcCode,
} from '#agents/protocol/grpc/refusal.ts';
import type { Logger } from '#core/logger.ts';
import { retryAfterSeconds } from '#core/request-limits.ts';
import { FunctionTimeoutError } from '#infra/server/functions/invoker.ts';

/** A call was refused; the refusal is what HTTP would answer. */
export class GrpcRefusalError extends Error {
  override readonly name = 'GrpcRefusalError';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

const codec = new RefusalCodec();

/** The status of gRPC for anything thrown. What a defect says stays in the log. @param call whose it is */
export function toServerStatus(
  error: unknown,
  { method, log }: { readonly method: string; readonly log: Logger },
): ServerErrorResponse {
  const isExpected = error instanceof GrpcRefusalError || error instanceof FunctionTimeoutError;
  if (!isExpected) log.error('a call of gRPC failed', { method, error });
  const refusal = toRefusal(error);
  const { status, message, errors = [] } = refusal;
  const code = error instanceof FunctionTimeoutError ? grpcCodes.deadlineExceeded : toGrpcCode(status);
  const metadata = new Metadata();
  // As over HTTP each 503 says when to try again.
  const told =
    status === 503
      ? { ...refusal, retryAfterSeconds: refusal.retryAfterSeconds ?? retryAfterSeconds }
      : refusal;
  metadata.set(detailsMetadata, codec.encode(code, told));
  const details = errors.length === 0 ? message : `${message}: ${errors.join('; ')}`;
  return { name: 'Error', message: details, code, details, metadata };
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof GrpcRefusalError) return error.refusal;
  if (error instanceof FunctionTimeoutError)
    return { status: 504, message: 'The function did not answer in time' };
  return { status: 500, message: 'Internal error; the log has it' };
}
