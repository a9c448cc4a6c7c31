import type { V1Pod } from '@kubernetes/client-node';
import { parseServerGroupName } from '#core/frigga.ts';
import { asString, type JsonObject } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, findNumber, readList, type Unchecked } from '../api/unchecked.ts';
import type { KindRegistry } from '../kinds/index.ts';
import { readAnnotations } from '../manifest/annotations.ts';
import { omitManagedFields } from '../manifest/edit.ts';
import { enabledAnnotation } from '../v1/naming/labels.ts';
import type { ObjectFacts } from './facts.ts';
import { toFacts } from './to-facts.ts';
import type { V1ContainerFacts, V1Facts, V1PodFacts } from './v1-facts.ts';
import { isWholeV1Kind } from './v1-resources.ts';

/** The most bytes of an object, as JSON, that is cached whole: compressed, any such object fits into an item of the store. */
export const wholeObjectBytesMax = 300_000;

/**
 * The facts of a V1 account's live object: its application and cluster come from its name, and the object itself is kept if more than names
 * are shown of its kind.
 *
 * @param registry the kinds of the object's account
 */
export function toV1Facts(manifest: Manifest, registry: Pick<KindRegistry, 'find'>): ObjectFacts {
  const facts = toFacts(manifest, registry);
  const object = isWholeV1Kind(facts.kind) ? findWholeObject(manifest) : undefined;
  return {
    ...facts,
    moniker: parseServerGroupName(facts.name),
    v1: readV1Facts(manifest, facts),
    ...(object && { object }),
  };
}

function readV1Facts(manifest: Manifest, { kind, spinnakerKind }: ObjectFacts): V1Facts {
  const enabled = readAnnotations(manifest)[enabledAnnotation];
  return {
    ...(spinnakerKind === 'serverGroups' && enabled !== undefined && { isEnabled: enabled !== 'false' }),
    ...(kind === 'pod' && { pod: readV1PodFacts(manifest) }),
  };
}

/** The object without Kubernetes' record of which manager wrote which field; undefined if it is too large. */
function findWholeObject(manifest: Manifest): JsonObject | undefined {
  const object = omitManagedFields(manifest);
  return Buffer.byteLength(JSON.stringify(object)) > wholeObjectBytesMax ? undefined : object;
}

function readV1PodFacts(manifest: Manifest): V1PodFacts {
  const { status } = asUnchecked<V1Pod>(manifest);
  const startedMs = Date.parse(asString(status?.startTime) ?? '');
  const reason = asString(readList(status?.conditions)[0]?.reason);
  return {
    ...(!Number.isNaN(startedMs) && { startedMs }),
    ...(reason !== undefined && { reason }),
    containers: readList(status?.containerStatuses).map(readContainer),
  };
}

type ContainerStatus = NonNullable<NonNullable<V1Pod['status']>['containerStatuses']>[number];

function readContainer(status: Unchecked<ContainerStatus>): V1ContainerFacts {
  const { running, waiting, terminated } = status?.state ?? {};
  const reason = asString(terminated?.reason ?? waiting?.reason);
  const exitCode = findNumber(terminated?.exitCode);
  return {
    image: asString(status?.image) ?? '',
    isReady: status?.ready === true,
    state: terminated ? 'terminated' : running ? 'running' : waiting ? 'waiting' : undefined,
    ...(reason !== undefined && { reason }),
    ...(exitCode !== undefined && { exitCode }),
  };
}
