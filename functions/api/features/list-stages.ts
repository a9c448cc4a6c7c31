import type { StageViews } from '#contract/answers/features.ts';
import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';
import { isDryRunName } from '#tasks/operation.ts';

/** GET /features/stages: the operations there are. Orca looks for `upsertEntityTags` before it tags. */
export const handler = apiHandler(openProviders, async function listStages(_request, services) {
  const { providers } = services;
  const names = await Promise.all(providers.clouds.map(({ name }) => providers.listOperationNames(name)));
  const own = names.flat().filter((name) => !isDryRunName(name));
  return ok<StageViews>([...new Set(own)].sort().map((name) => ({ name, enabled: true })));
});
