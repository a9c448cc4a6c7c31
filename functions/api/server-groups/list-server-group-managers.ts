import { viewHandler } from '#views/http/view-handler.ts';

/** GET /applications/{application}/serverGroupManagers: an application's Deployments with their ReplicaSets. */
export const handler = viewHandler(async function listServerGroupManagers(request, { views }) {
  return views.listServerGroupManagers(request.getParameter('application'));
});
