import { operatorHandler } from '#agents/http/operator-handler.ts';
import { ok } from '#http/api-handler.ts';
import { getClouddriver } from '#http/clouddriver-view.ts';
import { openBase } from '#platform/services/base.ts';

/** GET /armory/clouddrivers/{id}: that one by its name. */
export const handler = operatorHandler(openBase, async function getClouddriverById(request, services) {
  return ok(getClouddriver(request, services));
});
