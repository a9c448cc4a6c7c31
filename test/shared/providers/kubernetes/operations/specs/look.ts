import { getPath, type JsonValue } from '#core/json.ts';
import type { KubernetesPlace } from './spec.ts';

/**
 * Looks at one member of an object's spec, and at its generation: the API server raises that with every change of the spec, so it
 * tells how often something was done.
 *
 * @param resource such as `deployments/web`
 */
export function lookAtSpec(resource: string, member: string): (place: KubernetesPlace) => Promise<JsonValue> {
  return async ({ findLive }) => {
    const live = await findLive(resource);
    return {
      [member]: getPath(live, 'spec', member) ?? null,
      generation: getPath(live, 'metadata', 'generation') ?? null,
    };
  };
}

/** The image of a workload's container, the time of its last restart, and its generation. */
export async function lookAtTemplate({ findLive }: KubernetesPlace): Promise<JsonValue> {
  const live = await findLive('deployments/web');
  const template = getPath(live, 'spec', 'template');
  const containers = getPath(template, 'spec', 'containers');
  return {
    image: (Array.isArray(containers) ? getPath(containers[0], 'image') : undefined) ?? null,
    restartedAt: getPath(template, 'metadata', 'annotations', 'kubectl.kubernetes.io/restartedAt') ?? null,
    generation: getPath(live, 'metadata', 'generation') ?? null,
  };
}
