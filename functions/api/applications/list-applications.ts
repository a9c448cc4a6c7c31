import { toApplicationViews } from '../../../shared/core/application-views.ts';
import { viewHandler } from '../../../shared/runtime/view-handler.ts';

/** GET /applications: the applications that the accounts run, with their clusters; Fiat and Gate poll it. */
export const handler = viewHandler(async function getApplications(request, { views }) {
  // They change nothing here, but a caller who means something else by them is told.
  for (const name of ['expand', 'restricted']) request.getFlag(name, false);
  const { value, accounts } = await views.listApplications();
  return { value: toApplicationViews(value), accounts };
});
