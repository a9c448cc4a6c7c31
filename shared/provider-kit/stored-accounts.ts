import type { JsonObject } from '#core/json.ts';

/** The keys of a provider's accounts besides those that say who may use them. */
export interface AccountOptions {
  readonly known: readonly string[];
  /** The names of options within options, by the option that holds them: an object, or a list of such. Default: none. */
  readonly nested?: { readonly [option: string]: readonly string[] };
  /** Keys of Clouddriver, Halyard or the Operator that have no effect here: authors of old files need not be warned. Default: none. */
  readonly ignored?: readonly string[];
}

/**
 * Returns the option by which a definition has an identity of this installation sent to a host of its choice: such accounts are for
 * administrators. Undefined where there is none.
 *
 * @throws InvalidInputError where the settings do not allow the host
 */
export type IdentityCheck = (definition: JsonObject, settings: JsonObject) => string | undefined;

/** What an API must know of a provider to create its accounts. Options are dotted paths. */
export interface StoredAccounts {
  /** What an account may have. Other members of a definition are dropped, as in Clouddriver. */
  readonly options: AccountOptions;
  /** Options that may hold a secret: their values are never shown. Default: none. */
  readonly secrets?: readonly string[];
  /** Options that say where secrets are sent. Default: none. */
  readonly secretDestinations?: readonly string[];
  /** Options that name a secret without a reference. Default: none. */
  readonly secretNames?: readonly string[];
  /** Whether a text in an option of `secrets` holds a secret, if it is no reference. Default: it always does. */
  holdsSecret?(option: string, text: string): boolean;
  /** Loads the check for where a definition has identities of this installation sent. Default: no definition does that. */
  loadIdentityCheck?(): Promise<IdentityCheck>;
}
