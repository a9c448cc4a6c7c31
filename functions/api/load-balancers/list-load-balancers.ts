import { checkViewProvider } from '../../../shared/core/providers/view-set.ts';
import { viewHandler } from '../../../shared/runtime/http/view-handler.ts';

/** GET /{cloudProvider}/loadBalancers: nothing, as Clouddriver answers it for Kubernetes. */
export const handler = viewHandler(
  async function listLoadBalancers(request, { views }) {
    checkViewProvider(views, request.getParameter('cloudProvider'));
    return { value: [], accounts: [] };
  },
  { scope: () => ({ accounts: [] }) },
);
