import type { ObjectKey } from '#caching/store/cache-store.ts';
import type { ViewKey } from '#views/views.ts';
import { type CacheReading, createSight, readAllFacts } from '../../reads/cache-reading.ts';
import type { ObjectFacts, ServerGroupFacts } from '../../rows/facts.ts';
import { getRowName } from '../../rows/row-names.ts';
import type { WholeServerGroup } from '../views/server-group-detail.ts';

/** Spinnaker's names of the kinds of server groups, the most requested one first. */
export const serverGroupKinds = ['replicaSet', 'ReplicationController', 'statefulSet', 'daemonSet'] as const;

const autoscalerKind = 'horizontalpodautoscaler';
const deploymentKind = 'deployment';

/** The objects of these keys that an account may see, with all cached details, by the names of their rows. */
export async function loadWhole(
  reading: CacheReading,
  account: string,
  objects: readonly Pick<ObjectFacts, 'kind' | 'namespace' | 'name'>[],
): Promise<Map<string, ObjectFacts>> {
  const { cache, limit, addRows } = reading;
  const isSeen = createSight(reading, account);
  const keys = objects.map(({ kind, namespace, name }): ObjectKey => ({ account, kind, namespace, name }));
  const wanted = keys.filter(isSeen);
  if (wanted.length === 0) return new Map();
  addRows(wanted.length);
  const found = await limit(() => cache.getObjects(wanted));
  const facts = readAllFacts(found.filter((object) => object !== undefined));
  return new Map(facts.map((each) => [getRowName(each), each]));
}

/** The object of a bare name, of the first kind that has one. */
export async function findByName(
  reading: CacheReading,
  { account, location, name }: ViewKey,
  kinds: readonly string[],
): Promise<ObjectFacts | undefined> {
  const keys = kinds.map((kind) => ({ kind, namespace: location, name }));
  const found = await loadWhole(reading, account, keys);
  return keys.map((key) => found.get(getRowName(key))).find((facts) => facts !== undefined);
}

/** Server groups of an account with their related objects: their own, those of their pods, Deployments and autoscalers. */
export async function loadWholeServerGroups(
  reading: CacheReading,
  account: string,
  serverGroups: readonly ServerGroupFacts[],
): Promise<WholeServerGroup[]> {
  const wanted = serverGroups.flatMap(({ facts, instances }) => [
    facts,
    ...instances,
    ...listCompanions(facts),
  ]);
  const unique = new Map(wanted.map((object) => [getRowName(object), object]));
  const found = await loadWhole(reading, account, [...unique.values()]);
  const complete = (facts: ObjectFacts): ObjectFacts => {
    const whole = found.get(getRowName(facts));
    // Another object may have taken its name since the row was read.
    return whole?.uid === facts.uid ? whole : facts;
  };
  return serverGroups.map(({ facts, instances }) => {
    const companions = listCompanions(facts).map((key) => found.get(getRowName(key)));
    return {
      facts: complete(facts),
      instances: instances.map(complete),
      deployment: companions.find((each) => each?.kind === deploymentKind)?.object,
      autoscaler: companions.find((each) => each?.kind === autoscalerKind)?.object,
    };
  });
}

/** The Deployment of a server group, and the autoscaler of that, or of the server group itself. */
function listCompanions({
  namespace,
  name,
  owners,
}: ObjectFacts): Pick<ObjectFacts, 'kind' | 'namespace' | 'name'>[] {
  const deployment = owners.find(({ kind }) => kind === deploymentKind)?.name;
  const autoscaler = { kind: autoscalerKind, namespace, name: deployment ?? name };
  return deployment === undefined
    ? [autoscaler]
    : [{ kind: deploymentKind, namespace, name: deployment }, autoscaler];
}
