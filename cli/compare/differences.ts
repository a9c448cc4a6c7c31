import {
  asJsonArray,
  asJsonObject,
  asString,
  isJsonObject,
  isSameJson,
  type JsonObject,
  type JsonValue,
} from '#core/json.ts';
import { compareText } from '#core/text-order.ts';
import { findReason } from './known-differences.ts';

/** A difference between two answers. It shows no value: that may be secret. */
export interface Difference {
  /** Members from the top, items of lists by name: `[web].labels.app`. */
  readonly at: string;
  readonly found: 'only here' | 'only there' | 'differs';
  /** Why it is meant to be; undefined for one that is not. */
  readonly reason?: string | undefined;
}

/** Differences of one answer that are listed. */
export const differencesMax = 100;

/** Two values at one place. */
interface Pair {
  readonly here: JsonValue | undefined;
  readonly there: JsonValue | undefined;
}

/** Where a comparison is. */
interface Place {
  /** Names of members, without items of lists. */
  readonly members: readonly string[];
  readonly at: string;
}

/**
 * What differs between two answers to a read, whatever the order of lists, and whether a number is written as a double.
 *
 * @param path of the read, on which it depends what is known
 */
export function findDifferences(path: string, pair: Pair): readonly Difference[] {
  const found: Difference[] = [];
  compare(pair, { members: [], at: '' });
  return found;

  function compare({ here, there }: Pair, { members, at }: Place): void {
    if (found.length >= differencesMax || isSameJson(here, there)) return;
    if (Array.isArray(here) && Array.isArray(there)) {
      for (const [name, pairOfItems] of pairUp(toItems(here), toItems(there)))
        compare(pairOfItems, { members, at: `${at}[${name}]` });
    } else if (isJsonObject(here) && isJsonObject(there)) {
      for (const [name, values] of pairUp(new Map(Object.entries(here)), new Map(Object.entries(there))))
        compare(values, { members: [...members, name], at: at === '' ? name : `${at}.${name}` });
    } else {
      const what = here === undefined ? 'only there' : there === undefined ? 'only here' : 'differs';
      found.push({ at, found: what, reason: findReason(path, members) });
    }
  }
}

function pairUp(
  here: ReadonlyMap<string, JsonValue>,
  there: ReadonlyMap<string, JsonValue>,
): ReadonlyMap<string, Pair> {
  const names = [...new Set([...here.keys(), ...there.keys()])].sort(compareText);
  return new Map(names.map((name) => [name, { here: here.get(name), there: there.get(name) }]));
}

/** Members that name an item of a list, together. */
const naming = ['type', 'kind', 'account', 'region', 'namespace', 'application', 'name', 'id', 'key'];

/** Items of a list by what names them; the second of a name is `name#2`. */
function toItems(list: readonly JsonValue[]): ReadonlyMap<string, JsonValue> {
  const items = new Map<string, JsonValue>();
  const sorted = list
    .map((item) => [toName(item), item] as const)
    .sort(([one], [other]) => compareText(one, other));
  const counts = new Map<string, number>();
  for (const [name, item] of sorted) {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    items.set(count === 1 ? name : `${name}#${count}`, item);
  }
  return items;
}

function toName(item: JsonValue): string {
  const members = asJsonObject(item);
  if (members === undefined) return JSON.stringify(item).slice(0, 100);
  const names = naming.flatMap((name) => (typeof members[name] === 'string' ? [String(members[name])] : []));
  return names.length > 0 ? names.join(' ') : JSON.stringify(toSorted(members)).slice(0, 100);
}

function toSorted(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).sort(([one], [other]) => compareText(one, other)));
}

/** What an answer says of an account: the part that other accounts have no share in. */
export function pickAccount(
  path: string,
  value: JsonValue | undefined,
  account: string,
): JsonValue | undefined {
  const [route = ''] = path.split('?');
  if (/^\/credentials\/?$/.test(route))
    return asJsonArray(value).filter((item) => asJsonObject(item)?.['name'] === account);
  if (/^\/applications\/?$/.test(route)) {
    return asJsonArray(value).flatMap((item) => {
      const picked = pickMember(asJsonObject(item) ?? {}, 'clusterNames', account);
      return picked === undefined ? [] : [picked];
    });
  }
  const members = asJsonObject(value);
  if (members && /^\/applications\/[^/]+$/.test(route)) return pickMember(members, 'clusters', account) ?? {};
  if (members && /^(\/applications\/[^/]+\/clusters|\/securityGroups)$/.test(route))
    return members[account] ?? null;
  return omitOthers(value, account);
}

/** An application with what it has of an account; undefined for one that has nothing. */
function pickMember(item: JsonObject, member: string, account: string): JsonObject | undefined {
  const own = asJsonObject(item[member])?.[account];
  return own === undefined ? undefined : { ...item, [member]: own };
}

/** Lists, at any level, without items of other accounts. */
function omitOthers(value: JsonValue | undefined, account: string): JsonValue | undefined {
  if (Array.isArray(value)) {
    return value.filter((item) => isOf(item, account)).map((item) => omitOthers(item, account) ?? null);
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, omitOthers(member, account) ?? null]),
  );
}

function isOf(item: JsonValue, account: string): boolean {
  const members = asJsonObject(item) ?? {};
  const named = asString(members['account']) ?? asString(members['accountName']);
  return named === undefined || named === account;
}
