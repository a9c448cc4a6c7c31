import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { toErrorBody } from '#http/error-body.ts';
import { systemClock } from '#platform/services/system.ts';
import type { FrontDoorLimits } from './http-limits.ts';

/** Node's error for a connection on which something comes that is no request. */
export type ConnectionRefusal = (error: NodeJS.ErrnoException, socket: Duplex) => void;

/**
 * Makes what answers what is no HTTP request, or took too long to become one, and ends its connection. What comes still is dropped, so that
 * its sender gets to read the answer; who sends much, or takes his time, is cut off.
 */
export function createConnectionRefusal({
  refusedBodyBytesMax,
  refusedBodyMs,
}: Pick<FrontDoorLimits, 'refusedBodyBytesMax' | 'refusedBodyMs'>): ConnectionRefusal {
  /** Connections that were answered, with the bytes that may still come. */
  const answered = new WeakMap<Duplex, number>();
  return (error, socket) => {
    const bytesMax = answered.get(socket);
    // Node reports each further piece, too.
    if (bytesMax !== undefined && error.code !== 'ECONNRESET' && countBytes(socket) <= bytesMax) return;
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    answered.set(socket, countBytes(socket) + refusedBodyBytesMax);
    const timeout = setTimeout(() => socket.destroy(), refusedBodyMs);
    socket.once('close', () => clearTimeout(timeout));
    socket.end(toAnswer(findRefusal(error, socket)));
  };
}

function countBytes(socket: Duplex): number {
  return socket instanceof Socket ? socket.bytesRead : 0;
}

function findRefusal({ code = '' }: NodeJS.ErrnoException, socket: Duplex): Refusal | undefined {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && countBytes(socket) === 0 ? unread : refusals[code];
}

function toAnswer([status, line, message]: Refusal = [400, 'Bad Request', 'Malformed request']): string {
  const body = JSON.stringify(toErrorBody(status, message, systemClock.now()));
  return (
    `HTTP/1.1 ${status} ${line}\r\nconnection: close\r\ncontent-type: application/json;charset=UTF-8\r\n` +
    `x-content-type-options: nosniff\r\n${status === 503 ? 'retry-after: 1\r\n' : ''}` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

type Refusal = readonly [status: number, reason: string, message: string];

/** Of a connection that was opened, but not read from: this process may have stood still with a whole request waiting. */
const unread: Refusal = [503, 'Service Unavailable', 'No request was read in time: send it again'];

const refusals: { readonly [code: string]: Refusal } = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'The headers exceed 64 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive in time'],
};
