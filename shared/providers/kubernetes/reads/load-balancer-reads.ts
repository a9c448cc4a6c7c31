import type { DirectoryEntry } from '../../../core/cache/cache-store.ts';
import type { Viewed, ViewedList, ViewKey } from '../../../core/views/views.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import type { AccountFacts } from '../views/application-facts.ts';
import { toAccountLoadBalancerViews, toLoadBalancerViews } from '../views/load-balancer-view.ts';
import { toServerGroupManagerViews } from '../views/server-group-manager-view.ts';
import { type CacheReading, findObject, listPlaces, loadServices, readAllFacts } from './cache-reading.ts';
import { loadAccount } from './cached-application.ts';
import { loadOwnedNeighbours, loadSelectedNeighbours } from './neighbours.ts';

/** See {@link ViewReader.listServerGroupManagers}. */
export async function listServerGroupManagers(
  reading: CacheReading,
  application: string,
): Promise<ViewedList> {
  return listFromAccounts(reading, application, {
    load: async (place) => {
      const facts = await loadAccount(reading, place, { serverGroups: true, managers: true });
      return { ...facts, neighbours: await loadOwnedNeighbours(reading, place, facts.managers) };
    },
    toViews: (accounts) => toServerGroupManagerViews({ application, accounts }),
  });
}

/** See {@link ViewReader.listLoadBalancers}. */
export async function listLoadBalancers(reading: CacheReading, application: string): Promise<ViewedList> {
  return listFromAccounts(reading, application, {
    load: async (place) => {
      const wanted = { serverGroups: true, loadBalancers: true, services: true };
      const facts = await loadAccount(reading, place, wanted);
      const services = selectBackends(facts.loadBalancers, facts.namespaceServices);
      return { ...facts, neighbours: await loadSelectedNeighbours(reading, place, services) };
    },
    toViews: (accounts) => toLoadBalancerViews({ application, accounts }),
  });
}

/** See {@link ViewReader.findLoadBalancer}. */
export async function findLoadBalancer(reading: CacheReading, key: ViewKey): Promise<Viewed | undefined> {
  const { account } = key;
  const object = await findObject(reading, key);
  const [facts] = object === undefined ? [] : readAllFacts([object]);
  if (facts === undefined) return undefined;
  const namespaceServices = await loadServices(reading, account, [facts.namespace]);
  const services = selectBackends([facts], namespaceServices);
  const serverGroups = await loadSelectedNeighbours(reading, { account }, services);
  const surroundings = { account, serverGroups, neighbours: [], namespaceServices };
  const [value] = toAccountLoadBalancerViews([facts], surroundings);
  return value && { value, accounts: [account] };
}

async function listFromAccounts(
  reading: CacheReading,
  application: string,
  {
    load,
    toViews,
  }: {
    load: (place: DirectoryEntry) => Promise<AccountFacts>;
    toViews: (accounts: readonly AccountFacts[]) => readonly object[];
  },
): Promise<ViewedList> {
  const places = await listPlaces(reading, application);
  const accounts = await Promise.all(places.map(load));
  return { value: toViews(accounts), accounts: places.map(({ account }) => account) };
}

/** The services among load balancers, and those that ingresses among them send traffic to, whoever's they are. */
function selectBackends(
  loadBalancers: readonly ObjectFacts[],
  services: readonly ObjectFacts[],
): ObjectFacts[] {
  const wanted = new Set(
    loadBalancers.flatMap(({ namespace, name, ingress }) =>
      (ingress?.services ?? [name]).map((service) => `${namespace} ${service}`),
    ),
  );
  return services.filter(({ namespace, name }) => wanted.has(`${namespace} ${name}`));
}
