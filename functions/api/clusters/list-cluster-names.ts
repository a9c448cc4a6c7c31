import { viewHandler } from '#views/http/view-handler.ts';

/** GET /applications/{application}/clusters: names of an application's clusters by account. */
export const handler = viewHandler(async function listClusterNames(request, { views }) {
  return views.listClusterNames(request.getParameter('application'));
});
