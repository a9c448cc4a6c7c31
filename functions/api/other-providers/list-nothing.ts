import { apiHandler, ok } from '#http/api-handler.ts';
import { openProviders } from '#provider-kit/services/providers.ts';

/**
 * Lists of what only providers or services have that are not there. Gate and Deck ask for them all the same, and want a list:
 *
 * - GET /applications/{application}/clusters/{account}/{cluster}/{cloudProvider}/serverGroups/{serverGroup}/scalingActivities
 * - GET /applications/{application}/functions
 * - GET /applications/{application}/serverGroups/{account}/{region}/events
 * - GET /certificates
 * - GET /certificates/{cloudProvider}
 * - GET /cloudMetrics/{cloudProvider}/{account}/{region}
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
 */
export const handler = apiHandler(openProviders, async function listNothing() {
  return ok([]);
});
