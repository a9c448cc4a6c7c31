import { viewHandler } from '#views/http/view-handler.ts';
import { listInventory } from '#views/inventories.ts';

/**
 * Lists what platforms have besides what applications run there. Gate and Deck ask for it whatever providers there are, and want a list,
 * or a map by provider from /networks:
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
 * - GET /networks
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
export const handler = viewHandler(
  (request, { providers, cache, mayRead }) => {
    const { findParameter, findQuery, access } = request;
    return listInventory(access.route.path, providers.clouds, { cache, mayRead, findParameter, findQuery });
  },
  {
    scope(request) {
      const account = request.findParameter('account');
      return account === undefined ? 'inventories' : { accounts: [account] };
    },
  },
);
