import { viewHandler } from '#views/http/view-handler.ts';
import { checkViewProvider } from '#views/view-set.ts';

/** GET /{cloudProvider}/loadBalancers/{account}/{region}/{name}: a list with the load balancer, or without any. */
export const handler = viewHandler(async function getLoadBalancer(request, { views }) {
  const cloudProvider = request.getParameter('cloudProvider');
  checkViewProvider(views, cloudProvider);
  const account = request.getParameter('account');
  const location = request.getParameter('region');
  const name = request.getParameter('name');
  const found = await views.selectProvider(cloudProvider).findLoadBalancer({ account, location, name });
  return found ? { ...found, value: [found.value] } : { value: [], accounts: [account] };
});
