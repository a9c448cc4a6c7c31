import { NotFoundError } from '../../shared/core/errors.ts';
import { operatorHandler } from '../../shared/runtime/http/operator-handler.ts';
import { openBase } from '../../shared/runtime/services/base.ts';

/** GET /armory/clouddrivers/sql/pool/settings: always 404, which says why. */
export const handler = operatorHandler(openBase, async function getPoolSettings() {
  throw new NotFoundError(
    'There is no pool of SQL connections: what Clouddriver keeps in SQL stands in DynamoDB',
  );
});
