import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { formatFullName } from '#providers/kubernetes/kinds/name.ts';
import type { ObjectFacts, ServerGroupFacts } from '#providers/kubernetes/rows/facts.ts';
import { decodeFacts } from '#providers/kubernetes/rows/facts-codec.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import type { AccountFacts } from '#providers/kubernetes/views/application-facts.ts';
import { toLoadBalancerViews } from '#providers/kubernetes/views/load-balancer-view.ts';
import { toServerGroupManagerViews } from '#providers/kubernetes/views/server-group-manager-view.ts';
import { toServerGroupSummaryViews } from '#providers/kubernetes/views/server-group-view.ts';
import { toDynamoDbOptions } from '../engines/stores.ts';
import type { Subject } from '../system/system.ts';
import { requestApi } from './cluster.ts';

/** The kinds that are cached where nothing is said, and where the API server has them. */
const collections: { readonly [kind: string]: string } = {
  deployment: 'apis/apps/v1/deployments',
  replicaSet: 'apis/apps/v1/replicasets',
  statefulSet: 'apis/apps/v1/statefulsets',
  daemonSet: 'apis/apps/v1/daemonsets',
  job: 'apis/batch/v1/jobs',
  cronJob: 'apis/batch/v1/cronjobs',
  pod: 'api/v1/pods',
  service: 'api/v1/services',
  ingress: 'apis/networking.k8s.io/v1/ingresses',
  networkPolicy: 'apis/networking.k8s.io/v1/networkpolicies',
};

const registry = createKindRegistry([]);

/** What of a system is looked at. */
export type CacheSubject = Pick<Subject, 'stores' | 'fetch'>;

/** What of a cluster is compared. */
export interface CachedPart {
  /** Of the system. It has no filters but its `namespaces`. */
  readonly account: string;
  /** Those of the account. */
  readonly namespaces: readonly string[];
}

/**
 * What the cache of a system has otherwise than the cluster has it, a line each: the objects, and the views of every application as
 * the API answers them. None when both are equal.
 */
export async function findDifferences(subject: CacheSubject, part: CachedPart): Promise<string[]> {
  const facts = await readClusterFacts(part.namespaces);
  const ofObjects = await compareObjects(subject, part.account, facts);
  return ofObjects.length > 0 ? ofObjects : compareViews(subject, part.account, facts);
}

async function readClusterFacts(namespaces: readonly string[]): Promise<ObjectFacts[]> {
  const lists = Object.values(collections).flatMap((path) =>
    namespaces.map(async (namespace) => {
      const [group, plural] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
      const list = (await requestApi('GET', `/${group}/namespaces/${namespace}/${plural}`)) as List;
      const kind = list.kind.replace(/List$/, '');
      return list.items.map((item) => toFacts({ apiVersion: list.apiVersion, kind, ...item }, registry));
    }),
  );
  return (await Promise.all(lists)).flat();
}

interface List {
  readonly apiVersion: string;
  readonly kind: string;
  readonly items: readonly Manifest[];
}

async function compareObjects(
  { stores }: CacheSubject,
  account: string,
  facts: readonly ObjectFacts[],
): Promise<string[]> {
  const client = new DynamoDBClient(toDynamoDbOptions(stores));
  const tableName = cacheTable.name;
  const cache = createCacheStore({
    documents: client,
    tableName,
    clock: systemClock,
    randomness: systemRandomness,
  });
  try {
    const cached = new Map<string, string>();
    for (const kind of Object.keys(collections)) {
      for await (const page of cache.listObjects(account, kind)) {
        for (const object of page) {
          const found = decodeFacts(object.readBody());
          cached.set(
            toId({ ...object.key, namespace: object.key.location }),
            JSON.stringify(sortMembers(found)),
          );
        }
      }
    }
    const live = new Map(facts.map((each) => [toId(each), JSON.stringify(sortMembers(each))]));
    return compareMaps(live, cached);
  } finally {
    client.destroy();
  }
}

async function compareViews(
  subject: CacheSubject,
  account: string,
  facts: readonly ObjectFacts[],
): Promise<string[]> {
  const applications = [...new Set(facts.map(({ moniker }) => moniker.app))].filter(
    (app) => app !== undefined,
  );
  const views = {
    serverGroups: toServerGroupSummaryViews,
    serverGroupManagers: toServerGroupManagerViews,
    loadBalancers: toLoadBalancerViews,
  };
  const differences: string[] = [];
  for (const application of applications) {
    const expected = { application, accounts: [toAccountFacts({ account, application, facts })] };
    for (const [view, build] of Object.entries(views)) {
      const answer = await subject.fetch(`/applications/${encodeURIComponent(application)}/${view}`);
      if (!answer.ok) {
        differences.push(`${application}/${view}: answered ${answer.status}`);
        continue;
      }
      const shown = ((await answer.json()) as View[]).filter((each) => each.account === account);
      const live = toViewMap(build(expected) as readonly View[]);
      differences.push(
        ...compareMaps(live, toViewMap(shown)).map((text) => `${application}/${view}: ${text}`),
      );
    }
  }
  return differences;
}

interface View {
  readonly account: string;
  readonly region: string;
  readonly name: string;
}

function toViewMap(views: readonly View[]): Map<string, string> {
  return new Map(
    views.map((view) => [
      `${view.region} ${view.name}`,
      JSON.stringify(sortMembers(JSON.parse(JSON.stringify(view)))),
    ]),
  );
}

/** What an application has in an account, computed from the objects of the cluster alone. */
function toAccountFacts(of: {
  account: string;
  application: string;
  facts: readonly ObjectFacts[];
}): AccountFacts {
  const { account, application, facts } = of;
  const own = facts.filter(({ moniker }) => moniker.app === application);
  const groups = facts.filter(({ workload }) => workload !== undefined);
  const withPods = (group: ObjectFacts): ServerGroupFacts => ({
    facts: group,
    instances: facts.filter(({ pod, owners }) => pod && owners.some(({ uid }) => uid === group.uid)),
  });
  const namespaces = new Set(own.map(({ namespace }) => namespace));
  const near = groups.filter(
    ({ namespace, moniker }) => namespaces.has(namespace) && moniker.app !== application,
  );
  return {
    account,
    serverGroups: groups.filter((group) => own.includes(group)).map(withPods),
    managers: own.filter(({ spinnakerKind }) => spinnakerKind === 'serverGroupManagers'),
    loadBalancers: own.filter(({ spinnakerKind }) => spinnakerKind === 'loadBalancers'),
    namespaceServices: facts.filter(({ service, namespace }) => service && namespaces.has(namespace)),
    neighbours: near.map(withPods),
  };
}

function compareMaps(live: ReadonlyMap<string, string>, cached: ReadonlyMap<string, string>): string[] {
  const missing = [...live].filter(([key]) => !cached.has(key)).map(([key]) => `not cached: ${key}`);
  const extra = [...cached].filter(([key]) => !live.has(key)).map(([key]) => `still cached: ${key}`);
  const other = [...live]
    .filter(([key, value]) => cached.has(key) && cached.get(key) !== value)
    .map(([key, value]) => `otherwise: ${key}\n  live   ${value}\n  cached ${cached.get(key)}`);
  return [...missing, ...extra, ...other];
}

function toId({ kind, namespace, name }: Pick<ObjectFacts, 'kind' | 'namespace' | 'name'>): string {
  return `${namespace} ${formatFullName(kind, name)}`;
}

/** A copy whose members come in the order of their names, and whose lists of objects and texts come sorted: sets, as contracts have them. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value
      .map(sortMembers)
      .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, member]) => [key, sortMembers(member)]),
  );
}
