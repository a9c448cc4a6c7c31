import type { JsonObject, JsonValue } from '#core/json.ts';
import type { AccountDefinition } from './account-store.ts';

/** Asks what gives credentials for an account whether it does. @throws Error that says why it does not, and holds no secret */
export type CredentialCheck = (definition: AccountDefinition) => Promise<void>;

/** What is asked about an account that is to be made. */
export interface AccountChecks {
  /** Whether the caller may make it; before anything that it refers to is resolved. @throws what tells why he may not */
  checkRights(definition: AccountDefinition): Promise<void>;
  readonly checkCredential: CredentialCheck;
}

/** An account as somebody wrote it in another form than Clouddriver's. */
export interface AccountInForm {
  readonly name: string;
  /**
   * Holds it to the rules of its form.
   *
   * @returns the definition that it stands for
   * @throws InvalidInputError in the words of the form's first maker, for the first rule that it breaks; what `checkRights` throws
   */
  check(checks: AccountChecks): Promise<AccountDefinition>;
}

/** Another form of a provider's accounts, in which an API of somebody else writes them: it is the same account in both. */
export interface AccountForm {
  /** Reads a request's body. @throws InvalidInputError for what is not of the form */
  read(body: JsonValue): AccountInForm;
  /** How an account shows in it; undefined for one that it cannot tell. @param definition what is secret in it shows, too */
  toView(definition: AccountDefinition): JsonObject | undefined;
}
