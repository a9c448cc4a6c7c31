import { openBaseContext } from '../../../shared/runtime/context/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/**
 * Lists of what only providers or services have that are not there. Gate and Deck ask for them all the same, and want a list:
 *
 * - GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}/scalingActivities
 * - GET /applications/{application}/functions
 * - GET /applications/{application}/serverGroups/{account}/{region}/events
 * - GET /certificates
 * - GET /certificates/{cloudProvider}
 * - GET /cloudMetrics/{cloudProvider}/{account}/{region}
 * - GET /credentials/type/{type}
 * - GET /ecs/cloudMetrics/alarms
 * - GET /ecs/ecsClusters
 * - GET /ecs/secrets
 * - GET /ecs/serviceDiscoveryRegistries
 * - GET /elasticIps/{account}
 * - GET /functions
 * - GET /instanceTypes
 * - GET /keyPairs
 * - GET /networks/{cloudProvider}
 * - GET /reports/reservation
 * - GET /reports/reservation/{name}
 * - GET /roles/{cloudProvider}
 * - GET /servicebroker/{account}/services
 * - GET /storage
 * - GET /subnets
 * - GET /subnets/{cloudProvider}
 * - GET /tags
 * - GET /vpcs
 * - GET /{cloudProvider}/charts/find
 * - GET /{cloudProvider}/charts/tags
 * - GET /{cloudProvider}/images/find
 * - GET /{cloudProvider}/images/tags
 */
export const handler = openHandler(openBaseContext, async function listNothing() {
  return ok([]);
});
