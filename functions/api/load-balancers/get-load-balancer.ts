import { checkViewProvider } from '../../../shared/core/providers/view-set.ts';
import { viewHandler } from '../../../shared/runtime/http/view-handler.ts';

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
