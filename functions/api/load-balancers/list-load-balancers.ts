import { viewHandler } from '#views/http/view-handler.ts';
import { checkViewProvider } from '#views/view-set.ts';

/** GET /{cloudProvider}/loadBalancers: nothing, as Clouddriver answers it for Kubernetes. */
export const handler = viewHandler(
  async function listLoadBalancers(request, { views }) {
    checkViewProvider(views, request.getParameter('cloudProvider'));
    return { value: [], accounts: [] };
  },
  { scope: () => ({ accounts: [] }) },
);
