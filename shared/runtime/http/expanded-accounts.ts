import type { JsonObject } from '../../core/json.ts';
import { addCachedNamespaces, type NamespacesMemory } from '../../core/providers/cached-namespaces.ts';
import { parseCredentialsSettings, toCredentialsView } from '../../core/providers/credentials-view.ts';
import type { Account } from '../../core/settings/account.ts';
import { createViewContext, type ReadContext } from '../context/view-context.ts';

/** Of this process. */
const memory: NamespacesMemory = new Map();

/** Accounts with the fields of their providers and their cached namespaces. */
export async function listExpandedAccounts(
  context: ReadContext,
  accounts: readonly Account[],
): Promise<readonly JsonObject[]> {
  const options = { ...parseCredentialsSettings(context.settings), expand: true };
  // Names of namespaces are told of every account: Gate asks for all of them, for nobody in particular.
  const views = await createViewContext({ ...context, mayRead: () => true });
  const shown = await addCachedNamespaces(accounts, { ...views, memory });
  return shown.map((account) => toCredentialsView(account, options));
}

/** An account with the fields of its provider and its cached namespaces. @throws NotFoundError */
export async function getExpandedAccount(context: ReadContext, name: string): Promise<JsonObject> {
  const [shown = {}] = await listExpandedAccounts(context, [context.providers.getAccount(name)]);
  return shown;
}
