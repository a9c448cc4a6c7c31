import { InvalidInputError } from '../../core/errors.ts';
import { asJsonObject, type JsonObject } from '../../core/json.ts';
import type { RejectedAccount } from '../../core/settings/account.ts';
import {
  booleanField,
  type Field,
  jsonField,
  listOf,
  objectField,
  parseWith,
  requireField,
} from '../../core/settings/coerce.ts';
import { bindKeys, findMember, getSetting } from '../../core/settings/spring-config.ts';
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
  /** Adds what is built in to what is configured. */
  readonly complete?: (accounts: readonly ConfiguredAccount[]) => readonly ConfiguredAccount[];
  /** @throws InvalidInputError when the account cannot be used. */
  readonly open: (account: ConfiguredAccount) => ArtifactSource;
}

/**
 * Opens the accounts below `artifacts.<kind>`: none unless `enabled` is true there, as in Clouddriver. Accounts that
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
  attempt(`artifacts.${options.kind}`, () => {
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

function findAccounts({ settings, kind, complete }: OpenAccountsOptions): readonly ConfiguredAccount[] {
  const root = asJsonObject(getSetting(settings, `artifacts.${kind}`)) ?? {};
  const { enabled, accounts = [] } = parseSettings(kindFields, root, `artifacts.${kind}`);
  if (enabled !== true) return [];
  const configured = accounts.map((entry, index) =>
    describeAccount(asJsonObject(entry) ?? {}, kind, `artifacts.${kind}.accounts[${index}]`),
  );
  return complete?.(configured) ?? configured;
}

const kindFields = { enabled: booleanField(), accounts: listOf(jsonField()) };
