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
import type { ArtifactSource, OpenedSources } from './source.ts';

/** One entry of `artifacts.<kind>.accounts`. */
export interface ConfiguredAccount {
  /** Empty if it has none: then it is rejected. */
  readonly name: string;
  /** The beginning of messages about it: what it is and its name, or its place in the configuration. */
  readonly context: string;
  /** The entry, with keys as spelled. */
  readonly settings: JsonObject;
}

/** How the accounts of one kind are read. */
export interface OpenAccountsOptions {
  /** The merged configuration. */
  readonly settings: JsonObject;
  /** Key below `artifacts`, for example `github`. */
  readonly kind: string;
  /** Path of the accounts. Default: the list `accounts` of `artifacts.<kind>`. */
  readonly place?: { readonly section: string; readonly list: string };
  /** Adds the built-in accounts to the configured ones. */
  readonly complete?: (accounts: readonly ConfiguredAccount[]) => readonly ConfiguredAccount[];
  /** @throws InvalidInputError if the account cannot be used. */
  readonly open: (account: ConfiguredAccount) => ArtifactSource;
}

/**
 * Opens the accounts below `artifacts.<kind>`, or in another place; as in Clouddriver none unless `enabled` is true there. Unusable
 * accounts, and those with an earlier one's name, are rejected.
 */
export function openConfiguredAccounts(options: OpenAccountsOptions): OpenedSources {
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
  attempt(getPlace(options).section, () => {
    for (const account of findAccounts(options)) {
      attempt(account.name || account.context, () => {
        if (account.name === '') throw new InvalidInputError(`${account.context}: name: expected a value`);
        if (sources.has(account.name)) throw new InvalidInputError(`${account.context}: the name is taken`);
        sources.set(account.name, options.open(account));
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

function getPlace({ kind, place }: OpenAccountsOptions) {
  return place ?? { section: `artifacts.${kind}`, list: 'accounts' };
}

function findAccounts(options: OpenAccountsOptions): readonly ConfiguredAccount[] {
  const { settings, kind, complete } = options;
  const { section, list } = getPlace(options);
  const root = asJsonObject(getSetting(settings, section)) ?? {};
  const { enabled } = parseSettings({ enabled: booleanField() }, root, section);
  if (enabled !== true) return [];
  const { [list]: entries = [] } = parseSettings({ [list]: listOf(jsonField()) }, root, section);
  const configured = entries.map((entry, index) =>
    describeAccount(asJsonObject(entry) ?? {}, kind, `${section}.${list}[${index}]`),
  );
  return complete?.(configured) ?? configured;
}
