import { apiHandler, ok } from '../../shared/runtime/http/api-handler.ts';
import { toOwnClouddriver } from '../../shared/runtime/http/clouddriver-view.ts';
import { openBase } from '../../shared/runtime/services/base.ts';

/** GET /armory/clouddrivers: who answers: this installation. */
export const handler = apiHandler(openBase, async function listClouddrivers(request, services) {
  return ok([toOwnClouddriver(request, services)]);
});
