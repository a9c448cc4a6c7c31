import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Number of the form in which this release keeps a data directory. Raise it when a release cannot go on with what the one before
 * stored of tasks; what is cached has versions of its own.
 */
export const dataFormat = 2;

/** Name of the file in a data directory that has the number. */
export const dataFormatFile = 'format';

/** A data directory was written by a release that keeps it in another form; the message says what to do. */
export class DataFormatError extends Error {
  override readonly name = 'DataFormatError';
}

/**
 * Makes sure that this release can go on with a data directory, and notes the form in a new one. Call it while holding the directory.
 *
 * @throws DataFormatError when it cannot; Error when the file cannot be read or written
 */
export async function checkDataFormat(dir: string): Promise<void> {
  const file = path.join(dir, dataFormatFile);
  const found = (await readFormat(file)) ?? (await findFirstFormat(dir));
  if (found === String(dataFormat)) return;
  if (found !== undefined) throw new DataFormatError(describe(dir, found));
  // Half a number would be another one.
  await writeFile(`${file}.unfinished`, `${dataFormat}\n`, { mode: 0o600 });
  await rename(`${file}.unfinished`, file);
}

async function readFormat(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim().slice(0, 20);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Directories from before there was such a file are of form 1, in which tables stood in a folder. */
async function findFirstFormat(dir: string): Promise<string | undefined> {
  return (await readdir(dir)).includes('dynamodb') ? '1' : undefined;
}

function describe(dir: string, found: string): string {
  return (
    `${dir} was written by another version of Busdriver: its data has format '${found}', and this version knows format ${dataFormat} alone. ` +
    'Start that version on it, or pass another --data-dir. Deleting the directory works, too: that forgets all tasks, and has ' +
    'every cluster listed once more'
  );
}
