import { getErrorMessage, NotFoundError, VisibleError } from '../../../core/errors.ts';
import { asJsonArray, asString, getPath } from '../../../core/json.ts';
import type { ConsoleOutput } from '../../../core/provider.ts';
import type { ApiResource, KubernetesClient } from '../client/client.ts';
import { getObjectPath, withQuery } from '../client/resource-path.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { findContainerProblem } from '../manifest/names.ts';

/** Pods, as the API server serves them. */
export const podResource: ApiResource = {
  apiVersion: 'v1',
  kind: 'Pod',
  plural: 'pods',
  namespaced: true,
  builtIn: true,
};

/** What of a container's log is read, bytes: more than a kubelet keeps of one before it turns to the next file. */
const logBytesMax = 32 * 2 ** 20;

/** A pod by its bare name. */
export interface PodName {
  /** Namespace. */
  readonly location: string;
  readonly pod: string;
}

/**
 * What a container of a pod wrote.
 *
 * @throws KubernetesApiError for a pod that is gone, a container that there is not, or one that has not started; NotFoundError and
 *   InvalidInputError for what can be the name of none.
 */
export async function readLog(
  client: KubernetesClient,
  { location, pod, container }: PodName & { readonly container: string },
): Promise<string> {
  const problem = findContainerProblem(container);
  if (problem !== undefined) throw new NotFoundError(`There is no such container: ${problem}`);
  const path = `${getObjectPath(podResource, location, pod)}/log`;
  return client.getText(withQuery(path, { container, limitBytes: logBytesMax }));
}

/**
 * What each container of a pod wrote, init containers first. What cannot be read stands in the text's place: a user looks
 * there for the reason.
 */
export async function listConsoleOutput(
  client: KubernetesClient,
  { location, pod: name }: PodName,
): Promise<ConsoleOutput[]> {
  try {
    const pod = await client.get({ resource: podResource, namespace: location, name });
    if (pod === undefined) return [{ name: 'Error', output: `There is no pod ${name} in ${location}` }];
    return await Promise.all(
      listContainers(pod).map(async (container) => ({
        name: container,
        output: await readLog(client, { location, pod: name, container }).catch(tellFailure),
      })),
    );
  } catch (error) {
    return [{ name: 'Error', output: tellFailure(error) }];
  }
}

function listContainers(pod: Manifest): string[] {
  return ['initContainers', 'containers']
    .flatMap((key) => asJsonArray(getPath(pod, 'spec', key)))
    .flatMap((container) => asString(getPath(container, 'name')) ?? []);
}

function tellFailure(error: unknown): string {
  if (!(error instanceof VisibleError)) throw error;
  return getErrorMessage(error);
}
