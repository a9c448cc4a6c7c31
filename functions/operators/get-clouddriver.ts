import { apiHandler, ok } from '../../shared/runtime/http/api-handler.ts';
import { getClouddriver } from '../../shared/runtime/http/clouddriver-view.ts';
import { openBase } from '../../shared/runtime/services/base.ts';

/** GET /armory/clouddrivers/{id}: that one by its name. */
export const handler = apiHandler(openBase, async function getClouddriverById(request, services) {
  return ok(getClouddriver(request, services));
});
