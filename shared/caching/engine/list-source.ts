import type { Clock } from '#core/clock.ts';
import { AccessDeniedError, VisibleError } from '#core/errors.ts';
import { toRevision } from '../store/revision.ts';
import type { CacheModel } from '../writer/cache-model.ts';
import type { FoundPage, OpenSource, ReadOutcome, Scope, ScopeSource } from './scope-source.ts';

/** An object that was listed. */
export interface ListedObject<Facts> {
  /** Its name among those of its kind and location. */
  readonly name: string;
  readonly facts: Facts;
}

/** A platform that can only be listed, and whose objects have no versions: a cloud with regions. */
export interface ListedPlatform<Facts> {
  readonly kinds: readonly string[];
  /** Each is listed by itself, so that one that cannot be read keeps what is cached of it. Without any, kinds are listed whole. */
  readonly locations: readonly string[];
  /** Identifies the settings that choose what is cached. Default: there are none. */
  readonly rules?: string;
  /** All objects of a scope. @throws VisibleError when it cannot be read; AccessDeniedError when it may not be, for the next minutes */
  list(scope: Scope, signal: AbortSignal): Promise<readonly ListedObject<Facts>[]>;
}

/** Milliseconds between two checks for other kinds: none are expected. */
const kindsIntervalMs = 24 * 3600_000;

/** The source of a platform that can only be listed: a position is when a list began, wall time in milliseconds. */
export function createListSource<Facts>(
  platform: ListedPlatform<Facts>,
  clock: Pick<Clock, 'now'>,
): ScopeSource<Facts> {
  const isDivided = platform.locations.length > 0;
  const kinds = platform.kinds.map((kind) => ({ kind, id: kind, isDivided }));
  return {
    rules: platform.rules ?? '',
    readsByLocation: isDivided,
    findsLocations: false,
    kindsIntervalMs,
    selectKinds: async () => kinds,
    open: async ({ epoch, signal }): Promise<OpenSource<Facts>> => ({
      kinds,
      listLocations: async () => platform.locations,
      async list(scope, onPage): Promise<ReadOutcome> {
        const asOfMs = clock.now();
        const position = String(asOfMs);
        try {
          await onPage(toPage(scope, await platform.list(scope, signal), toRevision(epoch, position)));
          return { outcome: 'listed', position, asOfMs };
        } catch (error) {
          return toFailure(error, signal);
        }
      },
    }),
  };
}

/** How the facts of such a platform are cached, as JSON. @param version raise it when their form changes: all is then listed again */
export function createJsonModel<Facts>(version: number): CacheModel<Facts> {
  return {
    positionName: 'time',
    hasTimedPositions: true,
    encode: (facts) => JSON.stringify([version, facts]),
    decode(text) {
      const [found, facts] = JSON.parse(text) as [number, Facts];
      return found === version ? facts : undefined;
    },
  };
}

function toPage<Facts>(
  scope: Scope,
  found: readonly ListedObject<Facts>[],
  revision: ReturnType<typeof toRevision>,
): FoundPage<Facts> {
  return {
    count: found.length,
    read: (most) =>
      found.slice(0, most).map((object) => ({ ...scope, ...object, revision, seenAt: revision })),
  };
}

/** @throws the error unless it is one of the platform's */
function toFailure(error: unknown, signal: AbortSignal): ReadOutcome {
  const nothing = { position: undefined, asOfMs: undefined };
  if (signal.aborted) return { outcome: 'aborted', ...nothing };
  if (!(error instanceof VisibleError)) throw error;
  return { outcome: error instanceof AccessDeniedError ? 'forbidden' : 'broken', ...nothing, error };
}
