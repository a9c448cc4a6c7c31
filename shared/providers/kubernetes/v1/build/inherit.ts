import { asJsonArray, asJsonObject, asString, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { createLoadBalancerLabels, listLoadBalancers } from '../naming/labels.ts';

/** Prefix of the volumes that the API server adds to each pod. */
const ownVolumePrefix = 'kube-api-access-';

/** The members that a new job takes from another one's pod. The others concern that pod's node and time. */
const inheritedMembers = [
  ...['containers', 'volumes', 'serviceAccountName', 'nodeSelector', 'hostNetwork', 'dnsPolicy', 'dnsConfig'],
  ...['tolerations', 'imagePullSecrets', 'securityContext', 'hostAliases'],
];

/**
 * A controller whose pods take omitted members from another controller's: each member of the pod's specification is taken as a whole.
 * Labels are its own.
 *
 * @param source the copied controller
 * @param inheritsLoadBalancers whether its pods are behind the load balancers of the source's pods
 */
export function inheritTemplate(
  controller: Manifest,
  source: Manifest,
  inheritsLoadBalancers: boolean,
): Manifest {
  const spec = asJsonObject(controller['spec']) ?? {};
  const before = asJsonObject(getPath(source, 'spec', 'template')) ?? {};
  const after = asJsonObject(spec['template']) ?? {};
  const labels = asJsonObject(getPath(before, 'metadata', 'labels')) ?? {};
  const loadBalancers = inheritsLoadBalancers ? listLoadBalancers(labels) : [];
  const annotations = getPath(after, 'metadata', 'annotations') ?? getPath(before, 'metadata', 'annotations');
  const metadata = {
    labels: {
      ...asJsonObject(getPath(after, 'metadata', 'labels')),
      ...createLoadBalancerLabels(loadBalancers),
    },
    ...(annotations !== undefined && { annotations }),
  };
  const podSpec = inheritMembers(asJsonObject(after['spec']) ?? {}, asJsonObject(before['spec']) ?? {});
  return { ...controller, spec: { ...spec, template: { metadata, spec: podSpec } } };
}

/** A pod that takes omitted members from another pod. Of the other's containers it takes the first. */
export function inheritPod(pod: Manifest, source: Manifest): Manifest {
  const before = asJsonObject(source['spec']) ?? {};
  const [first] = asJsonArray(before['containers']);
  const inherited = inheritedMembers.flatMap((key): [string, JsonValue][] => {
    const member = before[key];
    return member === undefined ? [] : [[key, member]];
  });
  const containers = [omitOwnVolumes(asJsonObject(first) ?? {}, 'volumeMounts')];
  const podSpec = omitOwnVolumes({ ...Object.fromEntries(inherited), containers }, 'volumes');
  return { ...pod, spec: inheritMembers(asJsonObject(pod['spec']) ?? {}, podSpec) };
}

/** Without the volumes or mounts that the API server added by itself, and will add again. */
function omitOwnVolumes(object: JsonObject, key: 'volumes' | 'volumeMounts'): JsonObject {
  if (object[key] === undefined) return object;
  const others = asJsonArray(object[key]).filter(
    (member) => !(asString(getPath(member, 'name')) ?? '').startsWith(ownVolumePrefix),
  );
  return { ...object, [key]: others };
}

/** The older name of `serviceAccountName` would contradict a new one. An empty list counts as omitted. */
function inheritMembers(after: JsonObject, { serviceAccount: _, ...before }: JsonObject): JsonObject {
  const said = Object.entries(after).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return { ...before, ...Object.fromEntries(said) };
}
