import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { toErrorBody } from '#http/error-body.ts';
import { systemClock } from '#platform/services/system.ts';
import type { HttpError } from '../functions/http-error.ts';

/** What takes connections of one path over that ask for the WebSocket protocol. */
export interface UpgradeRoute {
  /** Without a query. */
  readonly path: string;
  /** Takes a connection over, or throws what is answered in the place of it. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
  /** Ends the connections that it took, and takes no others. */
  close(): void;
}

/** Whether a request asks for what such a route takes over. Everything else is a request like any other: Java's clients ask for HTTP/2. */
export function isUpgrade(request: IncomingMessage, route: UpgradeRoute | undefined): boolean {
  if (route === undefined || request.method !== 'GET') return false;
  const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket';
  return isWebSocket && request.url?.split('?')[0] === route.path;
}

/** Answers a request that is not taken over, and ends its connection. */
export function refuseUpgrade(socket: Duplex, { status, message, headers }: HttpError): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(toErrorBody(status, message, systemClock.now()));
  const further = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\nconnection: close\r\n` +
      `content-type: application/json;charset=UTF-8\r\nx-content-type-options: nosniff\r\n${further.join('')}` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
