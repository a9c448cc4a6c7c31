import type { DirectoryEntry, StoredObject } from '#caching/store/cache-store.ts';
import type { V1LoadBalancerView } from '#contract/answers/kubernetes-v1.ts';
import { compareText, sortByName } from '#core/text-order.ts';
import type { Viewed, ViewedList, ViewKey } from '#views/views.ts';
import { type CacheReading, listObjects, listPlaces, readAllFacts } from '../../reads/cache-reading.ts';
import { loadRowObjects } from '../../reads/cached-application.ts';
import { loadServerGroupsOf } from '../../reads/namespace-rows.ts';
import type { ObjectFacts, ServerGroupFacts } from '../../rows/facts.ts';
import { getRowName } from '../../rows/row-names.ts';
import { toLoadBalancerLabel } from '../naming/labels.ts';
import { toV1InstanceView } from '../views/instance-view.ts';
import { isBehind, toV1LoadBalancerView } from '../views/load-balancer-view.ts';
import { toV1SecurityGroupView } from '../views/security-group-view.ts';
import { findByName, loadIngresses, loadWhole, serverGroupKinds } from './server-group-reads.ts';

/** See {@link ViewReader.listLoadBalancers}. */
export async function listV1LoadBalancers(reading: CacheReading, application: string): Promise<ViewedList> {
  const places = await listPlaces(reading, application);
  const views = await Promise.all(
    places.map(async (place) => {
      const services = await loadRowObjects(reading, place, 'loadBalancers');
      return toLoadBalancerViews(reading, place.account, services);
    }),
  );
  return { value: sortByName(views.flat()), accounts: places.map(({ account }) => account) };
}

/** See {@link ViewReader.findLoadBalancer}. */
export async function findV1LoadBalancer(reading: CacheReading, key: ViewKey): Promise<Viewed | undefined> {
  const { account } = key;
  const facts = await findByName(reading, key, ['service']);
  const [value] = facts === undefined ? [] : await toLoadBalancerViews(reading, account, [facts]);
  return value && { value, accounts: [account] };
}

/** The load balancers of a namespace by their names, with the server groups behind them; missing ones are left out. */
export async function loadNamedLoadBalancers(
  reading: CacheReading,
  account: string,
  keys: readonly { readonly namespace: string; readonly name: string }[],
): Promise<V1LoadBalancerView[]> {
  const found = await loadWhole(
    reading,
    account,
    keys.map((key) => ({ kind: 'service', ...key })),
  );
  return toLoadBalancerViews(reading, account, [...found.values()]);
}

/** See {@link ViewReader.findSecurityGroup}. */
export async function findV1SecurityGroup(reading: CacheReading, key: ViewKey): Promise<Viewed | undefined> {
  const { account } = key;
  const facts = await findByName(reading, key, ['ingress']);
  return facts && { value: toV1SecurityGroupView(account, facts), accounts: [account] };
}

/** See {@link ViewReader.findInstance}. */
export async function findV1Instance(reading: CacheReading, key: ViewKey): Promise<Viewed | undefined> {
  const { account } = key;
  const facts = await findByName(reading, key, ['pod']);
  return facts && { value: toV1InstanceView(account, facts), accounts: [account] };
}

/** @param services with or without their objects */
async function toLoadBalancerViews(
  reading: CacheReading,
  account: string,
  services: readonly ObjectFacts[],
): Promise<V1LoadBalancerView[]> {
  if (services.length === 0) return [];
  const locations = [...new Set(services.map(({ namespace }) => namespace))].sort(compareText);
  const [whole, ingresses, serverGroups] = await Promise.all([
    loadWhole(reading, account, services),
    loadIngresses(reading, { account, locations }),
    loadMembers(reading, { account, locations }, services),
  ]);
  const context = { account, ingresses, serverGroups };
  return services.map((facts) => toV1LoadBalancerView(whole.get(getRowName(facts)) ?? facts, context));
}

/** Server groups whose pods are labelled for one of these Services, of any application, with their pods. */
async function loadMembers(
  reading: CacheReading,
  { account, locations }: Pick<DirectoryEntry, 'account' | 'locations'>,
  services: readonly ObjectFacts[],
): Promise<ServerGroupFacts[]> {
  const labels = services.map(({ name }) => toLoadBalancerLabel(name));
  const lists = await Promise.all(
    serverGroupKinds.flatMap((kind) =>
      locations.map((namespace) => listObjects(reading, { account, kind, namespace })),
    ),
  );
  const isMember = (object: StoredObject): boolean =>
    readAllFacts([object]).some((facts) => labels.some((label) => isBehind({ facts }, label)));
  const members = await loadServerGroupsOf(reading, lists.flat().filter(isMember));
  return members.map(({ serverGroup }) => serverGroup);
}
