import type { CacheModel, ObjectNames } from '#caching/writer/cache-model.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { isInCluster } from '../rows/cached-objects.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { decodeFacts, encodeFacts } from '../rows/facts-codec.ts';
import { findSelf, fromFacts } from '../rows/row-entries.ts';
import { type ApplicationView, findRowApplication, listEntryPlaces } from '../rows/row-names.ts';

/** The parts of an account that decide where its objects are cached. */
export type ModelAccount = Pick<KubernetesAccount, 'name' | 'kindRegistry'> & {
  readonly caching: Pick<KubernetesAccount['caching'], 'allApplicationRelationships'>;
};

/** Managers are few and small, and mostly have the names of their server groups. */
const views: readonly ApplicationView[] = [
  'managers',
  'loadBalancers',
  'serverGroups',
  'securityGroups',
  'resources',
];

/** The options of a writer of an account's changes. */
export function toWriterOptions<Parts extends object>({
  account,
  ...parts
}: Parts & { readonly account: ModelAccount }) {
  return { ...parts, account: account.name, model: createCacheModel(account) };
}

/** How an account's objects are cached. */
export function createCacheModel(account: ModelAccount): CacheModel<ObjectFacts> {
  return {
    encode: encodeFacts,
    decode: decodeFacts,
    positionName: 'resource version',
    locationKind: 'namespace',
    isLarge: ({ object }) => object !== undefined,
    rows: {
      views,
      findApplication: (facts) => findRowApplication(facts, account.caching),
      listEntries: (facts, application) => listEntryPlaces(account, facts, application),
      getNames: toNames,
      toValue: fromFacts,
      findNames(row) {
        const facts = findSelf(row);
        return facts && toNames(facts);
      },
    },
  };
}

/** Server groups and their managers make up clusters. */
function toNames({ spinnakerKind, moniker, namespace }: ObjectFacts): ObjectNames {
  return { cluster: (isInCluster(spinnakerKind) && moniker.cluster) || undefined, location: namespace };
}
