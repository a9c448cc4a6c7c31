import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** Writes bytes to the server of a URL. @returns all that it answers until it closes the connection */
export async function converse(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

/** Writes what begins so, and reads no answer before all of it is written, as many a client does. */
export async function send8Megabytes(url: string, head: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(head + 'x'.repeat(8_000_000), () => resolve());
  });
  return text(socket);
}
