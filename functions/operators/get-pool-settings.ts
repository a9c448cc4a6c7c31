import { NotFoundError } from '../../shared/core/errors.ts';
import { apiHandler } from '../../shared/runtime/http/api-handler.ts';
import { openBase } from '../../shared/runtime/services/base.ts';

/** GET /armory/clouddrivers/sql/pool/settings: always 404, which says why. */
export const handler = apiHandler(openBase, async function getPoolSettings() {
  throw new NotFoundError(
    'There is no pool of SQL connections: what Clouddriver keeps in SQL stands in DynamoDB',
  );
});
