import type { RejectedAccount } from '#accounts/model/account.ts';
import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import {
  booleanField,
  type Field,
  jsonField,
  listOf,
  objectField,
  parseWith,
  requireField,
} from '#settings/coerce.ts';
import { bindKeys, findMember, getSetting } from '#settings/spring-config.ts';
import type { ArtifactSource, OpenedSources, SourceOptions } from './source.ts';

/** One entry of `artifacts.<kind>.accounts`. */
export interface ConfiguredAccount {
  /** Empty if it has none: then it is rejected. */
  readonly name: string;
  /** The beginning of messages about it: what it is and its name, or its place in the configuration. */
  readonly context: string;
  /** The entry, with keys as spelled. */
  readonly settings: JsonObject;
}

/** One kind of accounts: how they are read and opened. */
export interface AccountKind {
  /** Key below `artifacts`, for example `github`. */
  readonly kind: string;
  /** The artifact types that its accounts fetch. */
  readonly types: readonly string[];
  /** The type of its accounts. Default: `artifacts-<kind>`. */
  readonly type?: string;
  /** A list that other services share, with further accounts: those whose names are taken already do not count. */
  readonly shared?: AccountsPlace;
  /** Adds the built-in accounts to the configured ones. */
  readonly complete?: (accounts: readonly ConfiguredAccount[]) => readonly ConfiguredAccount[];
  /** @throws InvalidInputError if the account cannot be used. */
  readonly open: (account: ConfiguredAccount, options: SourceOptions) => OpenedAccount;
}

/** What an account does that others of its kind do not. */
export type OpenedAccount = Omit<ArtifactSource, 'name' | 'type' | 'types' | 'handles'>;

interface AccountsPlace {
  /** Path of the section, which `enabled` switches on. */
  readonly section: string;
  readonly list: string;
  /** Whether an entry is an account of this kind. Default: all are. */
  readonly isMeant?: (settings: JsonObject) => boolean;
}

/**
 * Opens the accounts below `artifacts.<kind>`, and those of the shared list; as in Clouddriver none unless `enabled` is true there. Unusable
 * accounts, and those with an earlier one's name in their list, are rejected.
 */
export function openConfiguredAccounts(kind: AccountKind, options: SourceOptions): OpenedSources {
  const own = openList(kind, { section: `artifacts.${kind.kind}`, list: 'accounts' }, options);
  if (kind.shared === undefined) return own;
  const shared = openList(kind, kind.shared, options);
  const names = new Set(own.sources.map(({ name }) => name));
  return {
    sources: [...own.sources, ...shared.sources.filter(({ name }) => !names.has(name))],
    rejectedAccounts: [...own.rejectedAccounts, ...shared.rejectedAccounts],
  };
}

function openList(kind: AccountKind, place: AccountsPlace, options: SourceOptions): OpenedSources {
  const { types, type = `artifacts-${kind.kind}` } = kind;
  const sources = new Map<string, ArtifactSource>();
  const rejectedAccounts: RejectedAccount[] = [];
  const attempt = (name: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      rejectedAccounts.push({ name, reason: error.message });
    }
  };
  attempt(place.section, () => {
    for (const account of findAccounts(kind, place, options.settings)) {
      const { name, context } = account;
      attempt(name || context, () => {
        if (name === '') throw new InvalidInputError(`${context}: name: expected a value`);
        if (sources.has(name)) throw new InvalidInputError(`${context}: the name is taken`);
        const handles = (wanted: string) => types.includes(wanted);
        sources.set(name, { name, type, types, handles, ...kind.open(account, options) });
      });
    }
  });
  return { sources: [...sources.values()], rejectedAccounts };
}

/** Describes one entry of the list of accounts. `place` is its path, for messages if it has no name. */
export function describeAccount(settings: JsonObject, kind: string, place: string): ConfiguredAccount {
  const value = findMember(settings, 'name') ?? '';
  const name = typeof value === 'object' ? '' : String(value).trim();
  return { name, context: name === '' ? place : `artifacts.${kind} account '${name}'`, settings };
}

/**
 * Reads settings by field, in any spelling of their keys (`useContentAPI`, `use-content-api`).
 *
 * @throws InvalidInputError with one sentence for each violation, beginning with `context`.
 */
export function parseSettings<const S extends Readonly<Record<string, Field<unknown>>>>(
  fields: S,
  settings: JsonObject,
  context: string,
) {
  return parseWith(requireField(objectField(fields)), bindKeys(settings, Object.keys(fields)), context);
}

function findAccounts(
  { kind, complete }: AccountKind,
  { section, list, isMeant = () => true }: AccountsPlace,
  settings: JsonObject,
): readonly ConfiguredAccount[] {
  const root = asJsonObject(getSetting(settings, section)) ?? {};
  const { enabled } = parseSettings({ enabled: booleanField() }, root, section);
  if (enabled !== true) return [];
  const { [list]: entries = [] } = parseSettings({ [list]: listOf(jsonField()) }, root, section);
  const configured = entries
    .map((entry, index) => describeAccount(asJsonObject(entry) ?? {}, kind, `${section}.${list}[${index}]`))
    .filter((account) => isMeant(account.settings));
  return complete?.(configured) ?? configured;
}
