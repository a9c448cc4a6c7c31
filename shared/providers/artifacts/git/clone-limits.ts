/** Limits of reading a repository. */
export interface CloneLimits {
  /** Largest pack that a server sends, in bytes. 512 MiB by default. */
  readonly packBytesMax: number;
  /** Most bytes on disk: the pack, unpacked parts that do not fit into memory, and an archive that a thread creates. */
  readonly folderBytesMax: number;
  /** Most bytes of all files of the tree together, and of any object. 1 GiB by default. */
  readonly treeBytesMax: number;
  /** Most objects of a pack. */
  readonly objectsMax: number;
  /** Most files and folders of a tree. */
  readonly entriesMax: number;
  /** Time until the answer begins, in milliseconds. */
  readonly timeMs: number;
}

/** The limits of a process with a disk of its own. */
export const cloneLimits: CloneLimits = {
  packBytesMax: 512 * 2 ** 20,
  folderBytesMax: 1.5 * 2 ** 30,
  treeBytesMax: 2 ** 30,
  objectsMax: 250_000,
  entriesMax: 250_000,
  timeMs: 60_000,
};

/** Lambda's `/tmp` has 512 MB, not quite all of which is free. */
export const deployedFolderBytesMax = 480 * 2 ** 20;
