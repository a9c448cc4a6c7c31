import type { Logger } from '#core/logger.ts';
import type { Database } from './engines/dynamodb/database.ts';
import { describeObstacle } from './engines/dynamodb/disk.ts';

/** Codes of the same, and of a disk that is mounted for reading only. */
const diskCodes = new Map([
  ['ENOSPC', 'its disk is full'],
  ['EDQUOT', 'its quota is used up'],
  ['EFBIG', 'the size of files is limited (ulimit -f)'],
  ['EROFS', 'its disk is mounted for reading only'],
  ['EIO', 'its disk fails'],
]);

/** Why nothing can be stored, for whoever posts something; undefined as long as it can be. */
export function findStorageObstacle({ reason }: Pick<Database, 'reason'>): string | undefined {
  if (reason === undefined) return undefined;
  const { what } = describeObstacle(reason);
  return `Busdriver's data directory cannot be written, for ${what} (${reason}): nothing can be stored until that is mended; try again then`;
}

/** Has the log say in plain words when nothing can be stored any more, and when it can again. */
export function tellOfStorage(
  storage: Database,
  { dataDir, log }: { readonly dataDir: string; readonly log: Logger },
): void {
  storage.on('full', (reason) => {
    const { what, advice } = describeObstacle(reason);
    log.error(
      `the data directory cannot be written, for ${what}: ${advice}. Until then what would be stored is answered with 503`,
      { dataDir, reason },
    );
  });
  storage.on('space', () => log.info('the data directory can be written again: all goes on', { dataDir }));
}

/** What to tell the user of an error of the disk at the start; undefined for other errors. */
export function toDiskMessage(error: unknown, dataDir: string): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const what = diskCodes.get(code);
  if (what === undefined) return undefined;
  return `${dataDir} cannot be written: ${what} (${code}). Mend that, or pass another --data-dir`;
}
