import type { DirectoryEntry } from '#caching/store/cache-store.ts';
import type { Viewed, ViewedList, ViewKey } from '#views/views.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import type { AccountFacts } from '../views/application-facts.ts';
import { toAccountLoadBalancerViews, toLoadBalancerViews } from '../views/load-balancer-view.ts';
import { toServerGroupManagerViews } from '../views/server-group-manager-view.ts';
import { type CacheReading, findFacts, listPlaces } from './cache-reading.ts';
import { loadAccount } from './cached-application.ts';
import { loadNamespaceRows } from './namespace-rows.ts';
import { listServerGroupKinds, loadOwnedNeighbours, loadSelectedNeighbours } from './neighbours.ts';

/** See {@link ViewReader.listServerGroupManagers}. */
export async function listServerGroupManagers(
  reading: CacheReading,
  application: string,
): Promise<ViewedList> {
  const accounts = await loadPlaces(reading, application, async (place) => {
    const [{ serverGroups }, [facts, neighbours]] = await Promise.all([
      loadAccount(reading, place, { serverGroups: true }),
      loadManagers(reading, place),
    ]);
    return { ...facts, serverGroups, neighbours };
  });
  const value = toServerGroupManagerViews({ application, accounts });
  return { value, accounts: accounts.map(({ account }) => account) };
}

/** The managers of an application in an account, and the server groups of other applications that they own. */
async function loadManagers(
  reading: CacheReading,
  place: DirectoryEntry,
): Promise<[AccountFacts, ServerGroupFacts[]]> {
  const [facts, kinds] = await Promise.all([
    loadAccount(reading, place, { managers: true }),
    listServerGroupKinds(reading, place.account),
  ]);
  return [facts, await loadOwnedNeighbours(reading, { ...place, kinds }, facts.managers)];
}

/** See {@link ViewReader.listLoadBalancers}. */
export async function listLoadBalancers(reading: CacheReading, application: string): Promise<ViewedList> {
  const accounts = await loadPlaces(reading, application, async (place) => {
    const own = await loadAccount(reading, place, { loadBalancers: true });
    const { loadBalancers } = own;
    // Most applications have server groups in an account, and many have no load balancers.
    if (loadBalancers.length === 0) return own;
    const [facts, kinds] = await Promise.all([
      loadAccount(reading, place, { serverGroups: true, pods: true, services: true }),
      listServerGroupKinds(reading, place.account),
    ]);
    const services = selectBackends(loadBalancers, facts.namespaceServices);
    const neighbours = await loadSelectedNeighbours(reading, { ...place, kinds }, services);
    return { ...facts, loadBalancers, neighbours };
  });
  const value = toLoadBalancerViews({ application, accounts });
  return { value, accounts: accounts.map(({ account }) => account) };
}

/** See {@link ViewReader.findLoadBalancer}. */
export async function findLoadBalancer(reading: CacheReading, key: ViewKey): Promise<Viewed | undefined> {
  const { account } = key;
  const facts = await findFacts(reading, key);
  if (facts === undefined) return undefined;
  const place = { account, locations: [facts.namespace] };
  const [{ services: namespaceServices }, kinds] = await Promise.all([
    loadNamespaceRows(reading, place, { services: true }),
    listServerGroupKinds(reading, account),
  ]);
  const services = selectBackends([facts], namespaceServices);
  const serverGroups = await loadSelectedNeighbours(reading, { account, kinds }, services);
  const context = { account, serverGroups, neighbours: [], namespaceServices };
  const [value] = toAccountLoadBalancerViews([facts], context);
  return value && { value, accounts: [account] };
}

/** What is loaded for each place of an application. */
async function loadPlaces(
  reading: CacheReading,
  application: string,
  load: (place: DirectoryEntry) => Promise<AccountFacts>,
): Promise<AccountFacts[]> {
  const places = await listPlaces(reading, application);
  return Promise.all(places.map(load));
}

/** The services among load balancers, and those of any application that ingresses among them send traffic to. */
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
