import { operatorHandler } from '#agents/http/operator-handler.ts';
import { NotFoundError } from '#core/errors.ts';
import { openBase } from '#platform/services/base.ts';

/** GET /armory/clouddrivers/sql/pool/settings: always 404, which says why. */
export const handler = operatorHandler(openBase, async function getPoolSettings() {
  throw new NotFoundError(
    'There is no pool of SQL connections: what Clouddriver keeps in SQL stands in DynamoDB',
  );
});
