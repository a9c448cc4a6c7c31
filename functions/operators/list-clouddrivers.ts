import { ok } from '../../shared/runtime/http/api-handler.ts';
import { toOwnClouddriver } from '../../shared/runtime/http/clouddriver-view.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openBase } from '../../shared/runtime/services/base.ts';

/** GET /armory/clouddrivers: who answers: this installation. */
export const handler = operatorHandler(openBase, async function listClouddrivers(request, services) {
  return ok([toOwnClouddriver(request, services)]);
});
