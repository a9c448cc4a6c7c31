import { open } from 'node:fs/promises';
import { getErrorMessage } from '#core/errors.ts';
import { CliError } from './cli-error.ts';

/** Bytes of the largest kubeconfig or certificate that is read. */
const bytesMax = 1024 * 1024;

/** The bytes of a file. @throws CliError naming the file, where it cannot be read, is no file, or is larger than 1 MiB */
export async function readSmallFile(path: string): Promise<Buffer> {
  try {
    await using file = await open(path, 'r');
    const stat = await file.stat();
    if (stat.isDirectory()) throw new CliError(`${path} is a folder: expected a file`);
    const buffer = Buffer.alloc(bytesMax + 1);
    let length = 0;
    // A pipe gives what it has piece by piece.
    for (let read = 1; read > 0 && length <= bytesMax; length += read) {
      ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length));
    }
    if (length > bytesMax) throw new CliError(`${path} has more than ${bytesMax} bytes: no more are read`);
    return buffer.subarray(0, length);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read: ${getErrorMessage(error)}`, { cause: error });
  }
}
