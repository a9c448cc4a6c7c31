import { openProviderContext } from '../../../shared/runtime/context/provider-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** GET /features/stages: the operations there are. Orca looks for `upsertEntityTags` before it tags. */
export const handler = openHandler(openProviderContext, async function listStages(_request, context) {
  const names = context.providers.providers.flatMap((provider) =>
    provider.operations.map(({ name }) => name),
  );
  return ok([...new Set(names)].sort().map((name) => ({ name, enabled: true })));
});
