import type { Route } from '#functions/routes.ts';
import { upstreamRoutes } from '#functions/upstream-routes.ts';
import type { Services } from '#platform/services/services.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { hasUpstream } from '#settings/upstream-settings.ts';

/** The row for a path that no other row has; undefined without an upstream, and while the settings cannot be used. */
export async function findUnknownPathRoute(services: Services, method: string): Promise<Route | undefined> {
  const row = upstreamRoutes.find((each) => each.method === method);
  const opened = await openProviders(services).catch(() => undefined);
  return opened !== undefined && hasUpstream(opened.settings) ? row : undefined;
}
