import { toVersion, type Version } from '../../../core/cache/version.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { isWithinBounds } from '../account/account-bounds.ts';
import type { Manifest } from '../api/manifest.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { getResourceVersion } from '../client/list-pages.ts';
import { readName } from '../manifest/identity.ts';
import { createCacheFilter } from '../rows/cached-objects.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { toFacts } from '../rows/to-facts.ts';
import type { WatchChange } from '../watch/watch.ts';
import type { WatchedKind } from './watched-kinds.ts';

/** What decides what becomes of an object. */
export interface ConversionRules {
  readonly account: KubernetesAccount;
  readonly epoch: number;
  readonly kinds: readonly WatchedKind[];
  /** Whether Front50 has an application of that name; left out where it is not asked. */
  readonly isKnownApplication?: ((application: string) => boolean) | undefined;
}

/** Turns what an API server tells into what is cached. */
export interface ObjectConversion {
  /** A resource version of the cluster, in this epoch. @throws RangeError when it is none. */
  toVersion(resourceVersion: string): Version;
  /**
   * The object as it is to be cached; undefined when it is not kept, or has no resource version that can be compared.
   *
   * @param seenAt the version of the list that it is of.
   */
  toKept(object: Manifest, seenAt: Version): ObjectChange | undefined;
  /**
   * The last of these changes of each object, in no order. What is not kept counts as gone.
   *
   * @param changes in their order.
   * @param position the resource version up to which the stream was read.
   */
  toChanges(changes: readonly WatchChange[], position: string): ObjectChange[];
}

/** Makes the conversion of an account's objects. */
export function createObjectConversion(rules: ConversionRules): ObjectConversion {
  const { account, epoch } = rules;
  const findFacts = createFactsFinder(rules);
  const toOwnVersion = (object: Manifest): Version | undefined => {
    const resourceVersion = getResourceVersion(object);
    return isComparable(resourceVersion) ? toVersion(epoch, resourceVersion) : undefined;
  };
  const toChange = (object: Manifest, how: { seenAt: Version; isGone: boolean }) => {
    const version = toOwnVersion(object);
    if (version === undefined || readName(object) === '') return undefined;
    const facts = toFacts(object, account.kindRegistry);
    const { kind, namespace, name } = facts;
    const seenAt = how.seenAt < version ? version : how.seenAt;
    return {
      kind,
      namespace,
      name,
      version,
      seenAt,
      facts: how.isGone ? undefined : findFacts(object, facts),
    };
  };
  return {
    toVersion: (resourceVersion) => toVersion(epoch, resourceVersion),
    toKept(object, seenAt) {
      const change = toChange(object, { seenAt, isGone: false });
      return change?.facts === undefined ? undefined : change;
    },
    toChanges(changes, position) {
      const seenAt = toVersion(epoch, position);
      const last = new Map<string, ObjectChange>();
      for (const { type, object } of changes) {
        const change = toChange(object, { seenAt, isGone: type === 'DELETED' });
        if (change !== undefined) last.set(getChangeKey(change), change);
      }
      return [...last.values()];
    },
  };
}

/** Tells objects of an account apart. */
export function getChangeKey({
  kind,
  namespace,
  name,
}: Pick<ObjectChange, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace} ${name}`;
}

/** The latest change of each object: of kinds that are read in two ways at a time there are two. */
export function toLastChanges(changes: readonly ObjectChange[]): readonly ObjectChange[] {
  const last = new Map<string, ObjectChange>();
  for (const change of changes) {
    const known = last.get(getChangeKey(change));
    if (known === undefined || known.version <= change.version) last.set(getChangeKey(change), change);
  }
  return [...last.values()];
}

/** Whether a resource version can be compared with others: Kubernetes' are numbers, those of other servers may be anything. */
export function isComparable(resourceVersion: string): boolean {
  return /^\d{1,18}$/.test(resourceVersion);
}

/** Makes what finds the facts to be cached of an object, undefined when it is not kept. */
function createFactsFinder(
  rules: ConversionRules,
): (object: Manifest, facts: ObjectFacts) => ObjectFacts | undefined {
  const { account, kinds, isKnownApplication } = rules;
  const filter = createCacheFilter({
    registry: account.kindRegistry,
    kinds: kinds.filter(({ isWanted }) => isWanted).map(({ kind }) => kind),
    rules: account.caching,
    ...(isKnownApplication && { isKnownApplication }),
  });
  const needed = new Set(kinds.filter(({ isWanted }) => !isWanted).map(({ kind }) => kind));
  return (object, facts) => {
    // Nobody asked to see these: no application has them, and no label finds them.
    if (needed.has(facts.kind)) return { ...facts, moniker: {}, labels: {} };
    return isWithinBounds(account, facts) && filter(object) ? facts : undefined;
  };
}
