import { viewHandler } from '#views/http/view-handler.ts';
import { getFound } from '#views/view-set.ts';

/** GET /applications/{application}: an application with its clusters. */
export const handler = viewHandler(async function getApplication(request, { views }) {
  const name = request.getParameter('application');
  return getFound(await views.findApplication(name), `Application does not exist (name: ${name})`);
});
