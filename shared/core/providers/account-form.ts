import type { JsonObject, JsonValue } from '../json.ts';
import type { AccountDefinition } from '../settings/account-store.ts';

/** Asks what gives credentials for an account whether it does. @throws Error that says why it does not, and holds no secret */
export type CredentialCheck = (definition: AccountDefinition) => Promise<void>;

/** An account as somebody wrote it in another form than Clouddriver's. */
export interface AccountInForm {
  readonly name: string;
  /**
   * Holds it to the rules of its form.
   *
   * @returns the definition that it stands for
   * @throws InvalidInputError in the words of the form's first maker, for the first rule that it breaks
   */
  check(checkCredential: CredentialCheck): Promise<AccountDefinition>;
}

/** Another form of a provider's accounts, in which an API of somebody else writes them: it is the same account in both. */
export interface AccountForm {
  /** Reads a request's body. @throws InvalidInputError for what is not of the form */
  read(body: JsonValue): AccountInForm;
  /** How an account shows in it; undefined for one that it cannot tell. @param definition what is secret in it shows, too */
  toView(definition: AccountDefinition): JsonObject | undefined;
}
