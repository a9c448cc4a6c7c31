import { isJsonObject, type JsonValue } from '#core/json.ts';
import { compareText } from '#core/text-order.ts';
import { hashText } from '../store/hash-text.ts';
import type { CacheModel } from '../writer/cache-model.ts';

/** What a run leaves of a scope for the next one. */
export interface ScopeMemory {
  /** Its objects, as people count them. */
  readonly items: number;
  /** See `ListedScope.memory`. */
  readonly memory: JsonValue;
}

/** What is known of the scopes of a platform that can only be listed. */
export interface ListState {
  readonly scopes: Map<string, ScopeMemory>;
  /** Applications from which something was removed, with the earliest time to check the directory. */
  readonly waiting: Map<string, number>;
  /** When all scopes were last compared with the cache, wall time in milliseconds. */
  readonly comparedAtMs: number;
}

/** Milliseconds between two comparisons of all scopes with the cache. */
const compareIntervalMs = 3600_000;

/** The version of the stored form. Raise it with every change: all is compared with the cache once where it is another one. */
const form = 2;

/** The state of a run that begins, without scopes. */
export function createListState(last: ListState | undefined, nowMs: number): ListState {
  const isDue = last === undefined || nowMs - last.comparedAtMs >= compareIntervalMs;
  return {
    scopes: new Map(),
    waiting: new Map(last?.waiting),
    comparedAtMs: isDue ? nowMs : last.comparedAtMs,
  };
}

/** The text of a state: equal states have equal texts. */
export function formatListState({ scopes, waiting, comparedAtMs }: ListState): string {
  const sorted = [...scopes].sort(([one], [other]) => compareText(one, other));
  return JSON.stringify({
    form,
    comparedAtMs,
    scopes: sorted.map(([scope, { items, memory }]) => [scope, items, memory]),
    ...(waiting.size > 0 && { waiting: [...waiting] }),
  });
}

/** Reads a run's state; undefined for another version's state, and for none. */
export function parseListState(text: string | undefined): ListState | undefined {
  const stored: unknown = text ? JSON.parse(text) : undefined;
  if (!isJsonObject(stored) || stored['form'] !== form) return undefined;
  const scopes = (stored['scopes'] ?? []) as [scope: string, items: number, memory: JsonValue][];
  const waiting = (stored['waiting'] ?? []) as [application: string, dueMs: number][];
  return {
    scopes: new Map(scopes.map(([scope, items, memory]) => [scope, { items, memory }])),
    waiting: new Map(waiting),
    comparedAtMs: Number(stored['comparedAtMs']),
  };
}

/** Tells lists of objects apart: the same for the same objects in any order. */
export function toDigest<Facts>(
  objects: readonly { readonly name: string; readonly facts: Facts }[],
  model: CacheModel<Facts>,
): string {
  const texts = objects.map(({ name, facts }) => `${name}\n${model.encode(facts)}`).sort();
  const text = texts.join('\n');
  return `${objects.length}.${text.length.toString(36)}.${hashText(text).toString(36)}`;
}
