import { expect } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { ProxiedCall } from '#test/support/cluster/api-proxy.ts';
import { requestApi } from '#test/support/cluster/cluster.ts';
import { getCollection, type OperationSort, operationSorts, type Place } from './faulty-operations.ts';

export interface Trial {
  readonly sort: OperationSort;
  readonly place: Place;
}

/** An object as the API server lists it. */
export type LiveObject = JsonObject & { readonly metadata: { readonly name: string } };

/** Objects of a namespace by the plural of their kind. */
export type LiveObjects = ReadonlyMap<string, readonly LiveObject[]>;

export async function arrange({ sort, place }: Trial): Promise<void> {
  if (sort.arrange === undefined) return;
  await requestApi('POST', getCollection(sort, place.namespace), sort.arrange(place));
}

export async function listLive(namespace: string): Promise<LiveObjects> {
  const live = new Map<string, LiveObject[]>();
  for (const sort of operationSorts) {
    if (live.has(sort.plural)) continue;
    const { items } = (await requestApi('GET', getCollection(sort, namespace))) as { items: LiveObject[] };
    live.set(sort.plural, items);
  }
  return live;
}

export interface TrialOutcome {
  readonly isDone: boolean;
  readonly live: LiveObjects;
  /** What went to the API server meanwhile. */
  readonly calls: readonly ProxiedCall[];
}

/** What the audit of an operation finds wrong, in words. */
export function findWrongs({ sort, place }: Trial, { isDone, live, calls }: TrialOutcome): string[] {
  const name = sort.getName?.(place) ?? place.name;
  const isOurs = (found: string) => (name.endsWith('-') ? found.startsWith(name) : found === name);
  const objects = (live.get(sort.plural) ?? []).filter(({ metadata }) => isOurs(metadata.name));
  const writes = calls.filter(
    ({ path, written }) =>
      written !== undefined && isOurs(written.metadata.name) && path.includes(`/${sort.plural}`),
  );
  const wanted = sort.isGone ? 0 : 1;
  const effects = countEffects(writes);
  const wrongs: readonly [isWrong: boolean, what: string][] = [
    [effects > wanted || objects.length > 1, 'done more than once'],
    [sort.writesOnce && writes.length > 1, 'written more than once'],
    [isDone && (effects < wanted || objects.length !== wanted), 'said to be done, but is not'],
    [isDone && sort.expected !== undefined && !isMatch(objects[0], sort.expected), 'not as it should be'],
  ];
  return wrongs.flatMap(([isWrong, what]) => (isWrong ? [`${name} is ${what}`] : []));
}

/** How many states writes left. A repeat that changed nothing answers the state that is there. */
export function countEffects(writes: readonly ProxiedCall[]): number {
  const states = writes.flatMap(({ path, written }) => {
    const { uid, generation, resourceVersion } = written?.metadata ?? {};
    // Of a scale only the object itself has a generation, which the audit looks at, too.
    const state = path.endsWith('/scale') ? 'scale' : (generation ?? resourceVersion);
    return [`${uid} ${state}`];
  });
  return new Set(states).size;
}

export function isMatch(object: unknown, expected: JsonObject): boolean {
  try {
    expect(object).toMatchObject(expected);
    return true;
  } catch {
    return false;
  }
}
