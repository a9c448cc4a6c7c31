import { ok } from '../../shared/runtime/http/api-handler.ts';
import { getClouddriver } from '../../shared/runtime/http/clouddriver-view.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openBase } from '../../shared/runtime/services/base.ts';

/** GET /armory/clouddrivers/{id}: that one by its name. */
export const handler = operatorHandler(openBase, async function getClouddriverById(request, services) {
  return ok(getClouddriver(request, services));
});
