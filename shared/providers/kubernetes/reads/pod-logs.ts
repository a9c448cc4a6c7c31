import type { V1Pod } from '@kubernetes/client-node';
import type { ConsoleOutput } from '#contract/answers/jobs.ts';
import { getErrorMessage, NotFoundError, VisibleError } from '#core/errors.ts';
import { asString, type JsonObject } from '#core/json.ts';
import { consoleBytesMax, consoleContainersMax, logBytesMax } from '../api/answer-limits.ts';
import { getBuiltInResource } from '../api/built-in-resources.ts';
import type { KubernetesClient } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { findContainerProblem } from '../api/names.ts';
import { getObjectPath, withQuery } from '../api/resource-path.ts';
import { asUnchecked, readList } from '../api/unchecked.ts';
import { parseLogProperties } from './log-properties.ts';

/** Pods, as the API server serves them. */
export const podResource = getBuiltInResource('v1', 'Pod');

/** A pod by its bare name. */
export interface PodName {
  /** Namespace. */
  readonly location: string;
  readonly pod: string;
}

/** The log of a container. */
export interface LogRequest extends PodName {
  readonly container: string;
  /** How much is read, from its beginning, bytes. Default: `logBytesMax`. */
  readonly bytesMax?: number;
}

/**
 * What a container of a pod wrote.
 *
 * @throws KubernetesApiError for a pod that is gone, and for a container that is missing or has not started; NotFoundError and
 *   InvalidInputError for invalid names.
 */
export async function readLog(
  client: KubernetesClient,
  { location, pod, container, bytesMax = logBytesMax }: LogRequest,
): Promise<string> {
  const problem = findContainerProblem(container);
  if (problem !== undefined) throw new NotFoundError(`There is no such container: ${problem}`);
  const path = `${getObjectPath(podResource, location, pod)}/log`;
  return client.getText(withQuery(path, { container, limitBytes: bytesMax }));
}

/**
 * Properties in a log; none if it cannot be read for any reason: Orca then tries elsewhere, or informs the user.
 *
 * @param read reads the log.
 */
export async function readProperties(read: () => Promise<string>): Promise<JsonObject> {
  try {
    return parseLogProperties(await read());
  } catch (error) {
    if (error instanceof VisibleError) return {};
    throw error;
  }
}

/**
 * What each container of a pod wrote, init containers first. If a log cannot be read, the reason replaces its text: users look for it
 * there. The logs of all containers share `consoleBytesMax`, so that a pod of a hundred containers takes no more memory than a pod of one;
 * containers beyond `consoleContainersMax` are left out.
 */
export async function listConsoleOutput(
  client: KubernetesClient,
  { location, pod: name }: PodName,
): Promise<ConsoleOutput[]> {
  try {
    const pod = await client.get({ resource: podResource, namespace: location, name });
    if (pod === undefined) return [{ name: 'Error', output: `There is no pod ${name} in ${location}` }];
    const containers = listContainers(pod).slice(0, consoleContainersMax);
    const bytesMax = Math.min(Math.floor(consoleBytesMax / Math.max(containers.length, 1)), logBytesMax);
    return await Promise.all(
      containers.map(async (container) => ({
        name: container,
        output: await readLog(client, { location, pod: name, container, bytesMax }).catch(tellFailure),
      })),
    );
  } catch (error) {
    return [{ name: 'Error', output: tellFailure(error) }];
  }
}

function listContainers(pod: Manifest): string[] {
  const { spec } = asUnchecked<V1Pod>(pod);
  const containers = [...readList(spec?.initContainers), ...readList(spec?.containers)];
  return containers.flatMap((container) => asString(container?.name) ?? []);
}

function tellFailure(error: unknown): string {
  if (!(error instanceof VisibleError)) throw error;
  return getErrorMessage(error);
}
