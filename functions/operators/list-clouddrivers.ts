import { operatorHandler } from '#agents/http/operator-handler.ts';
import { ok } from '#http/api-handler.ts';
import { toOwnClouddriver } from '#http/clouddriver-view.ts';
import { openBase } from '#platform/services/base.ts';

/** GET /armory/clouddrivers: who answers: this installation. */
export const handler = operatorHandler(openBase, async function listClouddrivers(request, services) {
  return ok([toOwnClouddriver(request, services)]);
});
