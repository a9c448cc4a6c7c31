import { asString, type JsonValue } from '#core/json.ts';

/** What a run leaves of a repository for the next one. */
export interface RepositoryMemory {
  /** Identifies its list of tags; empty if not all of them were inspected yet. */
  readonly hash: string;
  /** Number of its objects in the cache. */
  readonly chunks: number;
  /** The latest revision of these. */
  readonly revision: string;
  /** When all digests were last requested, wall time in milliseconds. */
  readonly checkedAtMs: number;
  /** The last tag whose digest was requested again; empty to start at the beginning. */
  readonly checkedTo: string;
  /** Whether all its tags were cached once: from then on a new tag counts as pushed. */
  readonly isFilled: boolean;
}

/** What is known of an unknown repository, whose tags may all be old. */
export const unknownRepository: RepositoryMemory = {
  ...{ hash: '', chunks: 0, revision: '', checkedAtMs: 0, checkedTo: '' },
  isFilled: false,
};

/** The memory as it is stored, compact: there may be thousands. */
export function formatMemory(memory: RepositoryMemory): JsonValue {
  const { hash, chunks, checkedAtMs, checkedTo, isFilled, revision } = memory;
  return [hash, chunks, checkedAtMs, checkedTo, isFilled ? 1 : 0, revision];
}

/** Inverse of {@link formatMemory}; undefined for none. */
export function parseMemory(value: JsonValue | undefined): RepositoryMemory | undefined {
  if (!Array.isArray(value)) return undefined;
  const [hash, chunks, checkedAtMs, checkedTo, isFilled, revision] = value;
  return {
    hash: asString(hash) ?? '',
    chunks: Number(chunks),
    checkedAtMs: Number(checkedAtMs),
    checkedTo: asString(checkedTo) ?? '',
    isFilled: isFilled !== 0,
    revision: asString(revision) ?? '',
  };
}
