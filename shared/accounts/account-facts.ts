import { asJsonArray, asJsonObject, asString, isJsonObject, type JsonObject } from '#core/json.ts';
import type { ProviderPlugin } from '#provider-kit/provider.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import { pickPublicSettings } from '#settings/public-settings.ts';
import { mergeDocuments } from '#settings/spring-config.ts';
import type { RejectedAccount } from './model/account.ts';
import type { AccountDefinition } from './model/account-store.ts';

/**
 * What is known of accounts without their credentials: names, permissions, namespaces, and the settings for all of them. Functions that
 * reach no cluster and no artifact open their providers with it, and need no secret.
 */
export interface AccountFacts {
  /** The merged configuration, as far as plug-ins make it public; see `ProviderPlugin.toPublicSettings`. */
  readonly settings: JsonObject;
  /** Accounts that cannot be used. Reasons hold no secret: messages about settings never quote them. */
  readonly rejectedAccounts: readonly RejectedAccount[];
}

/** Where account facts are published: one text, replaced as a whole. */
export interface AccountFactsStore {
  /** The last published text; undefined before the first. @throws Error when it is incomplete. */
  read(): Promise<string | undefined>;
  /** Publishes a text unless it is stored already. @returns whether it is new @throws Error for more than `accountFactsBytesMax` */
  publish(text: string): Promise<boolean>;
}

/** Bytes of account facts, before they are compressed: a thousand accounts with long lists of namespaces have about 2 MB. */
export const accountFactsBytesMax = 16 * 2 ** 20;

/** Providers, and what they were opened with. */
export interface OpenedWith {
  readonly settings: JsonObject;
  readonly providers: ProviderSet;
  /** Accounts created by an API. */
  readonly storedAccounts: readonly AccountDefinition[];
}

/** The definitions of one provider's accounts. */
export function pickDefinitions(
  accounts: readonly AccountDefinition[],
  provider: string,
): readonly JsonObject[] {
  return accounts.filter(({ type }) => type === provider).map(({ body }) => body);
}

/** The facts of opened providers: of accepted and rejected accounts. */
export function toAccountFacts(plugins: readonly ProviderPlugin[], opened: OpenedWith): AccountFacts {
  const { settings, providers, storedAccounts } = opened;
  const parts = plugins.map((plugin) =>
    plugin.toPublicSettings(
      settings,
      providers.getOpenedAccounts(plugin.name),
      pickDefinitions(storedAccounts, plugin.name),
    ),
  );
  return {
    settings: mergeDocuments([pickPublicSettings(settings), ...parts]),
    rejectedAccounts: providers.rejectedAccounts.map(({ name, reason }) => ({ name, reason })),
  };
}

/** The facts as text, the same for the same facts. */
export function formatAccountFacts({ settings, rejectedAccounts }: AccountFacts): string {
  return JSON.stringify({ settings, rejectedAccounts });
}

/** Reads a text of `formatAccountFacts`. @throws Error for another text. */
export function parseAccountFacts(text: string): AccountFacts {
  const facts: unknown = JSON.parse(text);
  if (!isJsonObject(facts) || !isJsonObject(facts.settings)) {
    throw new Error('the account facts are none: expected an object with settings');
  }
  const rejectedAccounts = asJsonArray(facts.rejectedAccounts).map((entry) => {
    const { name, reason } = asJsonObject(entry) ?? {};
    return { name: asString(name) ?? '', reason: asString(reason) ?? '' };
  });
  return { settings: facts.settings, rejectedAccounts };
}
