import type { CachedManifestRequest, Viewed } from '#views/views.ts';
import { findDefaultNamespace } from '../account/account-bounds.ts';
import { toCachedManifestView } from '../views/cached-manifest-view.ts';
import { type CacheReading, findObjects, readAllFacts } from './cache-reading.ts';

/** See {@link ViewReader.findManifest}. Without a namespace: cluster-scoped, else in the first that the settings name. */
export async function findManifest(
  reading: CacheReading,
  request: CachedManifestRequest,
): Promise<Viewed | undefined> {
  const account = reading.session.findAccount(request.account);
  if (account === undefined) return undefined;
  const { location } = request;
  const locations = location === '' ? ['', findDefaultNamespace(account) ?? ''] : [location];
  const objects = await findObjects(
    reading,
    locations.map((each) => ({ ...request, location: each })),
  );
  const [facts] = readAllFacts(objects);
  return facts && { value: toCachedManifestView(account, facts, request), accounts: [account.name] };
}
