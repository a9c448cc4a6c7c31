import { type Revision, toRevision } from '#caching/store/revision.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { isWithinBounds } from '../account/account-bounds.ts';
import type { Manifest } from '../api/manifest.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { getResourceVersion } from '../client/list-pages.ts';
import { readName } from '../manifest/identity.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { createAccountFilter, toAccountFacts } from '../rows/to-account-facts.ts';
import type { WatchChange } from '../watch/watch.ts';
import type { WatchedKind } from './watched-kinds.ts';

/** The rules for what is cached of an object. */
export interface ConversionRules {
  readonly account: KubernetesAccount;
  readonly epoch: number;
  readonly kinds: readonly WatchedKind[];
  /** Whether Front50 has an application of that name; omitted if Front50 is not asked. */
  readonly isKnownApplication?: ((application: string) => boolean) | undefined;
}

/** Converts an account's objects from the form of the API server into what is cached. */
export class ObjectConversion {
  readonly #rules: ConversionRules;
  readonly #findFacts: ReturnType<typeof createFactsFinder>;

  constructor(rules: ConversionRules) {
    this.#rules = rules;
    this.#findFacts = createFactsFinder(rules);
  }

  /** A resource version of the cluster, in this epoch. @throws RangeError for an invalid one. */
  toRevision(resourceVersion: string): Revision {
    return toRevision(this.#rules.epoch, resourceVersion);
  }

  /**
   * The object as it is to be cached; undefined when it is not kept, or has no resource version that can be compared.
   *
   * @param seenAt the revision of its list.
   */
  toKept(object: Manifest, seenAt: Revision): ObjectChange | undefined {
    const change = this.#toChange(object, { seenAt, isGone: false });
    return change?.facts === undefined ? undefined : change;
  }

  /**
   * The changes to cache, in order. An object that is not kept counts as gone.
   *
   * @param changes in their order.
   * @param resourceVersion the resource version up to which the stream was read.
   */
  toChanges(changes: readonly WatchChange[], resourceVersion: string): ObjectChange[] {
    const seenAt = this.toRevision(resourceVersion);
    return changes.flatMap(
      ({ type, object }) => this.#toChange(object, { seenAt, isGone: type === 'DELETED' }) ?? [],
    );
  }

  #toChange(object: Manifest, how: { seenAt: Revision; isGone: boolean }): ObjectChange | undefined {
    const resourceVersion = getResourceVersion(object);
    if (!isComparable(resourceVersion) || readName(object) === '') return undefined;
    const revision = this.toRevision(resourceVersion);
    const facts = toAccountFacts(object, this.#rules.account);
    const { kind, namespace, name } = facts;
    const seenAt = how.seenAt < revision ? revision : how.seenAt;
    const kept = how.isGone ? undefined : this.#findFacts(object, facts);
    return { kind, location: namespace, name, revision, seenAt, facts: kept };
  }
}

/** Whether a resource version can be compared: Kubernetes' are numbers, those of other servers may be anything. */
export function isComparable(resourceVersion: string): boolean {
  return /^\d{1,18}$/.test(resourceVersion);
}

/** Creates a function that returns the facts to cache of an object, undefined for one that is not kept. */
function createFactsFinder(
  rules: ConversionRules,
): (object: Manifest, facts: ObjectFacts) => ObjectFacts | undefined {
  const { account, kinds, isKnownApplication } = rules;
  const filter = createAccountFilter(account, {
    kinds: kinds.filter(({ isWanted }) => isWanted).map(({ kind }) => kind),
    isKnownApplication,
  });
  const needed = new Set(kinds.filter(({ isWanted }) => !isWanted).map(({ kind }) => kind));
  return (object, facts) => {
    // Not wanted by the settings: these belong to no application, and no label finds them.
    if (needed.has(facts.kind)) return { ...facts, moniker: {}, labels: {} };
    return isWithinBounds(account, facts) && filter(object, facts) ? facts : undefined;
  };
}
