import type { ServerReadableStream, ServerUnaryCall, sendUnaryData, UntypedHandleCall } from '@grpc/grpc-js';
import { readPartsMax } from '#agents/live-read.ts';
import type { ServiceMethod } from '#agents/protocol/grpc/codec.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { AgentCalls } from './agent-calls.ts';
import { GrpcRefusalError, toServerStatus } from './grpc-refusal.ts';

type UnaryCall = ServerUnaryCall<JsonObject, JsonObject>;
type PartsCall = ServerReadableStream<JsonObject, JsonObject>;

/** What methods are answered with. */
export interface MethodHandlerOptions {
  readonly calls: Pick<AgentCalls, 'call'>;
  readonly log: Logger;
}

/** What answers a method that has a twin over HTTP. */
export function createMethodHandler(
  method: ServiceMethod,
  { calls, log }: MethodHandlerOptions,
): UntypedHandleCall {
  const settle = (answering: Promise<JsonObject>, callback: sendUnaryData<JsonObject>): void => {
    answering.then(
      (answer) => callback(null, answer),
      (error: unknown) => callback(toServerStatus(error, { method: method.name, log })),
    );
  };
  if (method.requestStream)
    return (stream: PartsCall, callback: sendUnaryData<JsonObject>) =>
      settle(takeParts(method, calls, stream), callback);
  return (call: UnaryCall, callback: sendUnaryData<JsonObject>) =>
    settle(calls.call(method, call, call.request), callback);
}

/** Each message of the stream is a request of the twin; the first one that is refused ends it. */
async function takeParts(
  method: ServiceMethod,
  calls: Pick<AgentCalls, 'call'>,
  stream: PartsCall,
): Promise<JsonObject> {
  let parts = 0;
  let answer: JsonObject = {};
  for await (const part of stream) {
    parts += 1;
    if (parts > readPartsMax) {
      const message = `Expected ${readPartsMax} messages at most`;
      throw new GrpcRefusalError({ status: 413, message });
    }
    answer = await calls.call(method, stream, part as JsonObject);
  }
  if (parts === 0) throw new GrpcRefusalError({ status: 400, message: 'Expected a message, got none' });
  return answer;
}
