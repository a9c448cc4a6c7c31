import { UnavailableError } from '#core/errors.ts';
import type { Catalog } from '#views/catalog.ts';
import type { CacheSettings } from '../account/account-settings.ts';

/**
 * Loads the applications that Front50 has, in lower case, where `kubernetes.cache.checkApplicationInFront50` says that only what
 * belongs to these is cached; elsewhere there is nothing to load. While Front50 is away those count that it had before.
 *
 * @returns a function that throws UnavailableError when nothing is known of them: then nothing is to be cached or evicted.
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
