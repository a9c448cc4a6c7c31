import {
  asJsonArray,
  asJsonObject,
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '#core/json.ts';
import { compareText } from '#core/text-order.ts';

/** What both sides answered to the same request. */
export interface BothAnswers {
  /** Undefined where this side does not know what was asked for. */
  readonly ours: JsonValue | undefined;
  readonly theirs: JsonValue;
  /** Whether an account is ours: nothing of it is taken from the other side. */
  owns(account: string): boolean;
  /** Whether an account is left to the other side though this one has it: nothing of it is taken from here. */
  leaves(account: string): boolean;
}

/** Makes one answer of both, of the shape that each has. */
type Merge = (both: BothAnswers) => JsonValue;

/** Ways to merge, by the shape of what is merged. */
export type MergeName =
  /** A list of accounts, by name. */
  | 'accounts'
  /** A list of caching agents: ours are shown of accounts that the other side has still, too. */
  | 'agents'
  /** A list, whose items may say of which account they are. */
  | 'list'
  /** A list, whose items have a name of their own. */
  | 'named'
  /** An object by account. */
  | 'accountMap'
  | 'application'
  | 'applications'
  | 'artifactAccounts'
  | 'projectClusters'
  | 'search';

/** The ways to merge. What is ours comes first. */
export const merges: { readonly [name in MergeName]: Merge } = {
  accounts: ({ ours, leaves, ...both }) =>
    merges.named({ ...both, leaves, ours: asJsonArray(ours).filter((item) => !leaves(getName(item))) }),
  agents: (both) => merges.list({ ...both, leaves: () => false }),
  list: ({ ours, theirs, owns, leaves }) => [
    ...asJsonArray(ours).filter((item) => !isOf(item, leaves)),
    ...asJsonArray(theirs).filter((item) => !isOf(item, owns)),
  ],
  named({ ours, theirs, owns }) {
    const names = new Set(asJsonArray(ours).map(getName));
    const others = asJsonArray(theirs).filter((item) => !names.has(getName(item)) && !owns(getName(item)));
    return [...asJsonArray(ours), ...others];
  },
  accountMap: mergeAccountMaps,
  application: (both) => mergeApplication(both, 'clusters'),
  applications: mergeApplications,
  artifactAccounts({ ours, theirs }) {
    const others = asJsonArray(theirs).filter(
      (item) => !asJsonArray(ours).some((own) => getName(own) === getName(item) && hasTypesOf(own, item)),
    );
    return [...asJsonArray(ours), ...others];
  },
  projectClusters: ({ ours, theirs, owns }) => [
    ...asJsonArray(ours).filter((item) => isOf(item, owns)),
    ...asJsonArray(theirs).filter((item) => !isOf(item, owns)),
  ],
  search: mergeSearches,
};

/** Members that name the account of an item, by the lists of Clouddriver's providers. */
const accountMembers = ['account', 'accountName'] as const;

function isOf(item: JsonValue, matches: BothAnswers['owns']): boolean {
  const members = asJsonObject(item) ?? {};
  return accountMembers.some((member) => {
    const account = asString(members[member]);
    return account !== undefined && matches(account);
  });
}

function getName(item: JsonValue): string {
  return asString(asJsonObject(item)?.['name']) ?? '';
}

function mergeAccountMaps({ ours, theirs, owns, leaves }: BothAnswers): JsonObject {
  const own = Object.entries(asJsonObject(ours) ?? {}).filter(([account]) => !leaves(account));
  const others = Object.entries(asJsonObject(theirs) ?? {}).filter(([account]) => !owns(account));
  // `__proto__` is a name like any other.
  return Object.fromEntries([...others, ...own]);
}

/** An application with its clusters by account, in the member of this name. */
function mergeApplication(both: BothAnswers, member: 'clusters' | 'clusterNames'): JsonObject {
  const one = asJsonObject(both.ours) ?? {};
  const other = asJsonObject(both.theirs) ?? {};
  const attributes = { ...asJsonObject(other['attributes']), ...asJsonObject(one['attributes']) };
  const providers = [one, other].flatMap((each) => listCloudProviders(each));
  if (providers.length > 0) attributes['cloudProviders'] = [...new Set(providers)].join(',');
  const clusters = mergeAccountMaps({ ...both, ours: one[member], theirs: other[member] ?? null });
  return { ...other, ...one, attributes, [member]: clusters };
}

function listCloudProviders({ attributes }: JsonObject): readonly string[] {
  const text = asString(asJsonObject(attributes)?.['cloudProviders']) ?? '';
  return text.split(',').filter((name) => name !== '');
}

/** Applications by name. One that the other side knows only for accounts of ours is gone where we do not know it. */
function mergeApplications({ ours, theirs, owns, leaves }: BothAnswers): JsonValue {
  const merged = new Map(asJsonArray(ours).map((item) => [getName(item), item]));
  for (const item of asJsonArray(theirs)) {
    const own = merged.get(getName(item));
    const accounts = Object.keys(asJsonObject(asJsonObject(item)?.['clusterNames']) ?? {});
    const isOfOurs = accounts.length > 0 && accounts.every(owns);
    if (own === undefined && isOfOurs) continue;
    merged.set(getName(item), mergeApplication({ ours: own, theirs: item, owns, leaves }, 'clusterNames'));
  }
  return [...merged.values()].sort((one, other) => compareText(getName(one), getName(other)));
}

function hasTypesOf(own: JsonValue, other: JsonValue): boolean {
  const types = asJsonArray(asJsonObject(own)?.['types']);
  return asJsonArray(asJsonObject(other)?.['types']).every((type) => types.includes(type));
}

/** Lists with one page of results each: Deck and Orca look at the first alone. */
function mergeSearches({ ours, theirs, owns, leaves }: BothAnswers): JsonValue {
  const [own = {}] = asJsonArray(ours).filter(isJsonObject);
  const pages = asJsonArray(theirs).filter(isJsonObject);
  const all = asJsonArray(own['results']);
  const results = all.filter((item) => !isOf(item, leaves));
  // Applications and projects are those of Front50, which both sides search.
  const known = new Set(results.map(toSearchKey));
  const found = pages.flatMap((page) => asJsonArray(page['results']));
  const others = found.filter((item) => !isOf(item, owns) && !known.has(toSearchKey(item)));
  const matches = [own, ...pages].reduce((sum, page) => sum + Number(page['totalMatches'] ?? 0), 0);
  const totalMatches = matches - (all.length - results.length) - (found.length - others.length);
  return [{ ...pages[0], ...own, totalMatches, results: [...results, ...others] }];
}

function toSearchKey(item: JsonValue): string {
  const { type, account, application, name, id, region } = asJsonObject(item) ?? {};
  return JSON.stringify([type, account, application, name ?? id, region]);
}
