import { addCachedNamespaces } from '../core/cached-namespaces.ts';
import { parseCredentialsSettings, toCredentialsView } from '../core/credentials-view.ts';
import type { JsonObject } from '../core/json.ts';
import { createViewContext, type ReadContext } from './view-context.ts';

/** An account with the fields of its provider and its cached namespaces. @throws NotFoundError */
export async function getExpandedAccount(context: ReadContext, name: string): Promise<JsonObject> {
  const account = context.providers.getAccount(name);
  const [shown = account] = await addCachedNamespaces(
    [account],
    await createViewContext(context, context.cache),
  );
  return toCredentialsView(shown, { ...parseCredentialsSettings(context.settings), expand: true });
}
