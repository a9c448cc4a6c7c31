import { viewHandler } from '#views/http/view-handler.ts';

/** GET /applications/{application}/loadBalancers: an application's services and ingresses. */
export const handler = viewHandler(async function listApplicationLoadBalancers(request, { views }) {
  return views.listLoadBalancers(request.getParameter('application'));
});
