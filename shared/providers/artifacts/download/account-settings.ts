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
  /** Empty when it has none: then it is rejected. */
  readonly name: string;
  /** What messages about it begin with: what it is and its name, or its place in the configuration. */
  readonly context: string;
  /** The entry, keys as they were spelled. */
  readonly settings: JsonObject;
}

/** How the accounts of one kind are read. */
export interface OpenAccountsOptions {
  /** The merged configuration. */
  readonly settings: JsonObject;
  /** Key below `artifacts`, for example `github`. */
  readonly kind: string;
  /** Where the accounts stand. Default: the list `accounts` of `artifacts.<kind>`. */
  readonly place?: { readonly section: string; readonly list: string };
  /** Adds what is built in to what is configured. */
  readonly complete?: (accounts: readonly ConfiguredAccount[]) => readonly ConfiguredAccount[];
  /** @throws InvalidInputError when the account cannot be used. */
  readonly open: (account: ConfiguredAccount) => ArtifactSource;
}

/**
 * Opens the accounts below `artifacts.<kind>`, or in another place: none unless `enabled` is true there, as in Clouddriver. Accounts that
 * cannot be used, and those named like an earlier one, are rejected.
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

/** Describes one entry of the list of accounts. `place` is where it stands, for messages when it has no name. */
export function describeAccount(settings: JsonObject, kind: string, place: string): ConfiguredAccount {
  const value = findMember(settings, 'name') ?? '';
  const name = typeof value === 'object' ? '' : String(value).trim();
  return { name, context: name === '' ? place : `artifacts.${kind} account '${name}'`, settings };
}

/**
 * Reads settings by field, in whatever spelling their keys have (`useContentAPI`, `use-content-api`).
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
