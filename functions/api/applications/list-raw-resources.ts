import { viewHandler } from '#views/http/view-handler.ts';

/** GET /applications/{application}/rawResources: an application's objects of all cached kinds. */
export const handler = viewHandler(async function listRawResources(request, { views }) {
  return views.listRawResources(request.getParameter('application'));
});
