import type { CachingAgentState, KindState, ScopeState } from './caching-agent-state.ts';
import { isNarrow, type ReadingSource } from './kind-scopes.ts';
import type { ScopedKind } from './scope-source.ts';

/** The summary of a state. */
export interface StateSummary {
  /** Objects that are cached. */
  readonly items: number;
  /** The cache is complete as of this time, wall time in milliseconds, as far as it may be read; undefined until all of that was listed. */
  readonly asOfMs: number | undefined;
  /** Kinds and locations that are read separately: the watches that a caching agent needs. */
  readonly scopes: number;
  /** Those never listed completely. */
  readonly unlisted: number;
  /** Kinds and locations that may not be read: `ingress`, `pod in shop`. */
  readonly forbidden: readonly string[];
  /** Whether nothing may be read at all. */
  readonly isAllForbidden: boolean;
}

/** Sums up what is known of an account's kinds. Scopes that may not be read do not make the rest look older. */
export function summarizeState(
  { kinds: states }: Pick<CachingAgentState, 'kinds'>,
  kinds: readonly ScopedKind[],
  source: ReadingSource,
): StateSummary {
  const read = kinds.flatMap((kind) => {
    const known = states.get(kind.kind);
    return known === undefined ? [] : [{ kind, scopes: listReadScopes(kind, known, source) }];
  });
  const scopes = read.flatMap((each) => each.scopes.map(([, scope]) => scope));
  const readable = scopes.filter(isReadable);
  const times = readable.map(({ asOfMs }) => asOfMs).filter((asOfMs) => asOfMs !== undefined);
  const isWhole = times.length === readable.length && times.length > 0;
  const forbidden = read.flatMap((each) => listForbidden(each.kind.kind, each.scopes));
  return {
    items: scopes.reduce((sum, { items }) => sum + items, 0),
    asOfMs: isWhole ? times.reduce((one, other) => Math.min(one, other)) : undefined,
    scopes: readable.length,
    unlisted: readable.length - times.length,
    forbidden,
    isAllForbidden: forbidden.length > 0 && readable.length === 0,
  };
}

type NamedScope = readonly [location: string, scope: ScopeState];

/** The scopes of a kind that are read, and so make up its cache. */
function listReadScopes(
  kind: ScopedKind,
  { scopes, wideAtMs }: KindState,
  source: ReadingSource,
): NamedScope[] {
  const narrow = isNarrow(kind, { wideAtMs }, source);
  const read = [...scopes].filter(([location]) => (location !== '') === narrow);
  // No readable location is known: then none may be read.
  return read.length === 0 ? [...scopes] : read;
}

function listForbidden(kind: string, scopes: readonly NamedScope[]): string[] {
  const forbidden = scopes.filter(([, { forbiddenAtMs }]) => forbiddenAtMs !== undefined);
  if (forbidden.length === scopes.length && scopes.length > 0) return [kind];
  return forbidden.map(([location]) => `${kind} in ${location}`);
}

function isReadable({ forbiddenAtMs, goneAtMs }: ScopeState): boolean {
  return forbiddenAtMs === undefined && goneAtMs === undefined;
}
