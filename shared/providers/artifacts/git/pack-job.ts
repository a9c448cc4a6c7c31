import { archiveName, shareCloneFolder } from './clone-folder.ts';
import type { CloneLimits } from './clone-limits.ts';
import { findCommit, openArchive, type WantedTree } from './pack-work.ts';

/** A thread's work on a pack. */
export interface PackQuery {
  /** Path of the folder of the clone. */
  readonly folder: string;
  /** Name of the pack's file in it. */
  readonly pack: string;
  /** Bytes that may be added to the folder. */
  readonly bytesLeft: number;
  readonly limits: CloneLimits;
  /** The commit whose id begins with `start`, or a commit's tree, as a file in the folder. */
  readonly wanted: { readonly start: string } | WantedTree;
}

/** @see JobModule */
export const location = import.meta.url;

/**
 * Reads a pack.
 *
 * @returns the id of the commit; nothing for an archive, which is in its file.
 * @throws what `findCommit` and `openArchive` throw.
 */
export async function run({ wanted, pack, limits, ...query }: PackQuery): Promise<string> {
  await using folder = shareCloneFolder(query.folder, query.bytesLeft);
  const files = { pack: await folder.openFile(pack), unpacked: await folder.createFile(`${pack}.unpacked`) };
  const options = { limits, signal: new AbortController().signal };
  if ('start' in wanted) return findCommit(files, wanted.start, options);
  const file = await folder.createFile(archiveName);
  for await (const piece of await openArchive(files, wanted, options)) await file.append(piece);
  return '';
}
