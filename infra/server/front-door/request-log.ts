import type { ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Logger } from '#core/logger.ts';
import { describeRequest } from '#http/request-log.ts';

/**
 * Logs a request once its answer is over: what was asked with its headers and its body, secrets masked, and what became of it. Bytes are
 * those of the answer on its connection, headers and all.
 */
export function logRequest(
  event: APIGatewayProxyEvent,
  response: ServerResponse,
  log: Pick<Logger, 'info'>,
): void {
  const startedAtMs = performance.now();
  const { socket } = response;
  const bytesBefore = socket?.bytesWritten ?? 0;
  response.once('close', () => {
    log.info('request', {
      requestId: event.requestContext.requestId,
      ...describeRequest(event),
      status: response.statusCode,
      answerBytes: (socket?.bytesWritten ?? bytesBefore) - bytesBefore,
      durationMs: Math.round(performance.now() - startedAtMs),
    });
  });
}
