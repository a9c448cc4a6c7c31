import { asJsonArray, asJsonObject, asString, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { createLoadBalancerLabels, listLoadBalancers } from '../naming/labels.ts';

/** Begin the names of volumes that the API server gives to each pod by itself. */
const ownVolumePrefix = 'kube-api-access-';

/** What a new job takes over of the pod of another one. The rest is about the node and the time of that one. */
const inheritedMembers = [
  ...['containers', 'volumes', 'serviceAccountName', 'nodeSelector', 'hostNetwork', 'dnsPolicy', 'dnsConfig'],
  ...['tolerations', 'imagePullSecrets', 'securityContext', 'hostAliases'],
];

/**
 * A controller whose pods are those of another one, as far as it says nothing of them: each member of the pod's specification is
 * taken as a whole. Labels are its own.
 *
 * @param source the controller that is copied
 * @param inheritsLoadBalancers whether its pods are behind the load balancers of those of the source
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

/** A pod that does what another one did, as far as it says nothing of it. Of the other's containers it has the first. */
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

/** Without what the API server adds to a list of volumes or mounts by itself, and adds again. */
function omitOwnVolumes(object: JsonObject, key: 'volumes' | 'volumeMounts'): JsonObject {
  if (object[key] === undefined) return object;
  const others = asJsonArray(object[key]).filter(
    (member) => !(asString(getPath(member, 'name')) ?? '').startsWith(ownVolumePrefix),
  );
  return { ...object, [key]: others };
}

/** The older name of `serviceAccountName` would contradict a new one. A list without members says nothing. */
function inheritMembers(after: JsonObject, { serviceAccount: _, ...before }: JsonObject): JsonObject {
  const said = Object.entries(after).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return { ...before, ...Object.fromEntries(said) };
}
