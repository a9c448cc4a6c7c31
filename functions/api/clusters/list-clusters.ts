import { NotFoundError } from '#core/errors.ts';
import { viewHandler } from '#views/http/view-handler.ts';

/** GET /applications/{application}/clusters/{account}: an application's clusters in an account, in short. */
export const handler = viewHandler(async function listClusters(request, { views }) {
  const application = request.getParameter('application');
  const account = request.getParameter('account');
  const clusters = await views.listClusters(application, account);
  if (clusters.value.length > 0) return clusters;
  throw new NotFoundError(`No clusters found (application: ${application}, account: ${account})`);
});
