import { asJsonObject, asString, getPath, type JsonValue } from '#core/json.ts';
import { compareText } from '#core/text-order.ts';

/** The state of a repository that a run leaves for the next one. */
export interface RepositoryState {
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

/** By repository. */
export type CachingAgentState = ReadonlyMap<string, RepositoryState>;

const form = 1;

/** The text of a state: equal states have equal texts. */
export function formatState(state: CachingAgentState): string {
  const sorted = [...state].sort(([one], [other]) => compareText(one, other));
  const rows = sorted.map(([name, { hash, chunks, checkedAtMs, checkedTo, isFilled, revision }]) => [
    name,
    hash,
    chunks,
    checkedAtMs,
    checkedTo,
    isFilled ? 1 : 0,
    revision,
  ]);
  return JSON.stringify({ form, repositories: rows });
}

/** Reads a run's state; undefined for another version's state, and for none. */
export function parseState(text: string | undefined): CachingAgentState | undefined {
  if (!text) return undefined;
  const parsed: unknown = JSON.parse(text);
  const rows = getPath(parsed, 'repositories');
  if (asJsonObject(parsed)?.['form'] !== form || !Array.isArray(rows)) return undefined;
  return new Map(rows.flatMap((row) => parseRow(row)));
}

function parseRow(row: JsonValue): [string, RepositoryState][] {
  if (!Array.isArray(row)) return [];
  const [name, hash, chunks, checkedAtMs, checkedTo, isFilled, revision] = row;
  const repository = asString(name);
  if (repository === undefined) return [];
  const state = {
    hash: asString(hash) ?? '',
    chunks: Number(chunks),
    checkedAtMs: Number(checkedAtMs),
    checkedTo: asString(checkedTo) ?? '',
    isFilled: isFilled !== 0,
    revision: asString(revision) ?? '',
  };
  return [[repository, state]];
}
