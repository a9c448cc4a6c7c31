import type { JsonObject, JsonValue } from '#core/json.ts';
import type { AccountDefinition } from './account-store.ts';

/** Checks whether an account gets credentials from their source. @throws Error with the reason why not, without a secret */
export type CredentialCheck = (definition: AccountDefinition) => Promise<void>;

/** Checks of an account that is to be created. */
export interface AccountChecks {
  /** Whether the caller may create it; before anything that it refers to is resolved. @throws the reason why not */
  checkRights(definition: AccountDefinition): Promise<void>;
  readonly checkCredential: CredentialCheck;
}

/** An account written in another form than Clouddriver's. */
export interface AccountInForm {
  readonly name: string;
  /**
   * Checks it by the rules of its form.
   *
   * @returns its definition
   * @throws InvalidInputError in the words of the form's inventor, for the first violated rule; what `checkRights` throws
   */
  check(checks: AccountChecks): Promise<AccountDefinition>;
}

/** Another form of a provider's accounts, from another product's API: it is the same account in both. */
export interface AccountForm {
  /** Reads a request's body. @throws InvalidInputError for what is not of the form */
  read(body: JsonValue): AccountInForm;
  /** An account in this form; undefined for one that it cannot express. @param definition its secrets are shown, too */
  toView(definition: AccountDefinition): JsonObject | undefined;
}
