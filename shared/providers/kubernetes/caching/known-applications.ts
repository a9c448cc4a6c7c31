import { UnavailableError } from '#core/errors.ts';
import type { Catalog } from '#views/catalog.ts';
import type { CacheSettings } from '../account/account-settings.ts';

/**
 * Loads Front50's applications, in lower case, if `kubernetes.cache.checkApplicationInFront50` limits the cache to them; otherwise there is
 * nothing to load. While Front50 is unavailable its last known applications count.
 *
 * @returns a function that throws UnavailableError when none are known: then nothing must be cached or evicted.
 */
export function createApplicationsLoader(
  settings: Pick<CacheSettings, 'checkApplicationInFront50'>,
  findCatalog: (() => Catalog | undefined) | undefined,
): (() => Promise<ReadonlySet<string>>) | undefined {
  if (!settings.checkApplicationInFront50) return undefined;
  return async () => {
    const catalog = findCatalog?.();
    if (catalog === undefined) {
      throw new UnavailableError(
        'kubernetes.cache.checkApplicationInFront50 needs Front50: set services.front50.baseUrl',
      );
    }
    const { applications, isCurrent } = await catalog.listApplications();
    if (!isCurrent && applications.length === 0) {
      throw new UnavailableError('Front50, which has the applications, does not answer');
    }
    return new Set(applications.map(({ name }) => name.toLowerCase()));
  };
}
