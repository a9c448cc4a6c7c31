import { viewHandler } from '#views/http/view-handler.ts';

/** GET /applications/{application}/serverGroups: an application's server groups, all of them or those of some clusters. */
export const handler = viewHandler(async function listApplicationServerGroups(request, { views }) {
  const clusters = request.findQueryList('clusters');
  const cloudProvider = clusters === undefined ? request.findQuery('cloudProvider') || undefined : undefined;
  return views.selectProvider(cloudProvider).listServerGroups({
    applications: [request.getParameter('application')],
    clusters,
    expand: request.getFlag('expand', false),
  });
});
