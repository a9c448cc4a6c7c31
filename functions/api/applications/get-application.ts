import { getFound } from '../../../shared/core/providers/view-set.ts';
import { viewHandler } from '../../../shared/runtime/http/view-handler.ts';

/** GET /applications/{application}: an application with its clusters. */
export const handler = viewHandler(async function getApplication(request, { views }) {
  const name = request.getParameter('application');
  return getFound(await views.findApplication(name), `Application does not exist (name: ${name})`);
});
