import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { readFixture } from '#test/support/run/fixture.ts';
import {
  clusterScoped,
  container,
  deployment,
  type Members,
  namespaced,
  patchBySomebody,
} from './builders.ts';
import type { ForeignRequest, Pair } from './pair.ts';

type Two<T> = readonly [first: T, second: T];

/** A pair as it is written in the file: one of the lists of two says what the two objects have beside what all such objects have. */
interface WrittenPair extends Pick<Pair, 'title' | 'firstVerb' | 'secondVerb'> {
  readonly container?: Two<Members>;
  readonly pods?: Two<Members>;
  readonly deployment?: Two<Members>;
  /** `apiVersion` and `kind` of what `pair` or `raw` describes. */
  readonly type?: string;
  readonly scope?: 'Cluster';
  readonly pair?: Two<Members>;
  /** Whole manifests. */
  readonly raw?: Two<Manifest>;
  /** `patch` is the resource, as {@link patchBySomebody} takes it. */
  readonly between?: readonly (ForeignRequest | { readonly patch: string; readonly body: JsonObject })[];
}

const written = readFixture<{ readonly [subject: string]: readonly WrittenPair[] }>(
  'kubernetes/differential/pairs.yaml',
);

/** Pairs that somebody wrote for what is easily done wrong. @param subjects lists of the file; default: all of them */
export function listWrittenPairs(subjects: readonly string[] = Object.keys(written)): Pair[] {
  return subjects.flatMap((subject) => written[subject] ?? []).map(toPair);
}

function toPair({ title, firstVerb, secondVerb, between, ...row }: WrittenPair): Pair {
  const [first, second] = toManifests(row);
  return {
    ...{ title, first, second },
    ...(firstVerb && { firstVerb }),
    ...(between && { between: between.map(toRequest) }),
    ...(secondVerb && { secondVerb }),
  };
}

function toManifests(row: Omit<WrittenPair, 'title'>): Two<Manifest> {
  const { raw, pair, type = '' } = row;
  if (raw !== undefined) return raw;
  if (pair !== undefined) {
    return both(pair, (members) => (row.scope ? clusterScoped(type, members) : namespaced(type, members)));
  }
  if (row.container !== undefined) {
    return both(row.container, (members) => deployment({ containers: [container(members)] }));
  }
  if (row.pods !== undefined) return both(row.pods, (members) => deployment(members));
  return both(row.deployment ?? [{}, {}], (members) => deployment({}, members));
}

function both<T, R>([first, second]: Two<T>, map: (one: T) => R): Two<R> {
  return [map(first), map(second)];
}

function toRequest(request: NonNullable<WrittenPair['between']>[number]): ForeignRequest {
  return 'patch' in request ? patchBySomebody(request.patch, request.body) : request;
}
