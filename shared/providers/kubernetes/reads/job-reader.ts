import { FailedOperationError, NotFoundError, VisibleError } from '../../../core/errors.ts';
import { getPath, type JsonObject } from '../../../core/json.ts';
import type { JobReader, ObjectRequest } from '../../../core/providers/provider.ts';
import type { KubernetesSession } from '../account/session.ts';
import type { ApiResource, KubernetesClient } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { readName } from '../manifest/identity.ts';
import { formatSelectors, readLabelSelector } from '../manifest/selectors.ts';
import { sortByUse, toJobView } from './job-view.ts';
import { parseLogProperties } from './log-properties.ts';
import { listConsoleOutput, podResource, readLog } from './pod-logs.ts';
import { getAccountOf, getReadClient, parseReadName } from './read-target.ts';

const jobResource: ApiResource = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  plural: 'jobs',
  namespaced: true,
  builtIn: true,
};

/** Live reads of Jobs and logs through the clients of a session. */
export function createJobReader(session: KubernetesSession): JobReader {
  const open = (place: Pick<ObjectRequest, 'account' | 'location'>): Promise<KubernetesClient> =>
    getReadClient(session, getAccountOf(session, place));
  return {
    getJob: (request) =>
      explain('read', request, async () => {
        const client = await open(request);
        const job = await getJob(client, request);
        const pods = await listPods(client, job, request.location);
        const { detailedPodStatus } = session.settings;
        return toJobView({ account: request.account, job, pods, detailedPodStatus });
      }),
    deleteJob: (request) => explain('cancel', request, async () => deleteJob(await open(request), request)),
    getJobProperties: async (request, container) => {
      const client = await open(request);
      return readProperties(() => readJobLog(client, request, container));
    },
    getPodProperties: async ({ account, location, pod }, container) => {
      const client = await open({ account, location });
      return readProperties(() => readLog(client, { location, pod, container }));
    },
    listConsoleOutput: async ({ account, location, name }) => {
      const client = await open({ account, location });
      return listConsoleOutput(client, { location, pod: parsePodName(name) });
    },
  };
}

/** @throws NotFoundError */
async function getJob(client: KubernetesClient, request: ObjectRequest): Promise<Manifest> {
  const name = parseJobName(request);
  const job = await client.get({ resource: jobResource, namespace: request.location, name });
  if (job === undefined) throw jobNotFound(request);
  return job;
}

/** Its pods end with it: without them nothing would be cancelled. */
async function deleteJob(client: KubernetesClient, request: ObjectRequest): Promise<void> {
  const name = parseJobName(request);
  const ref = { resource: jobResource, namespace: request.location, name };
  const answer = await client.delete(ref, { propagationPolicy: 'Background' });
  if (answer === undefined) throw jobNotFound(request);
}

/** The pods that a Job's selector selects. A Job that has none yet gets it from the API server with its creation. */
function listPods(client: KubernetesClient, job: Manifest, location: string): Promise<Manifest[]> {
  const selectors = readLabelSelector(getPath(job, 'spec', 'selector'));
  const labelSelector = formatSelectors(selectors);
  if (labelSelector === '') return Promise.resolve([]);
  return client.list({ resource: podResource, namespace: location, labelSelector });
}

/** The log of the Job's pod that is most likely to hold what a pipeline looks for. */
async function readJobLog(
  client: KubernetesClient,
  request: ObjectRequest,
  container: string,
): Promise<string> {
  const { location } = request;
  const pods = await listPods(client, await getJob(client, request), location);
  const [pod] = sortByUse(pods);
  if (pod === undefined) throw new NotFoundError(`The Job ${request.name} has no pod`);
  return readLog(client, { location, pod: readName(pod), container });
}

/** Whatever keeps a log from being read, there are no properties: Orca goes on to another place, or tells the user. */
async function readProperties(read: () => Promise<string>): Promise<JsonObject> {
  try {
    return parseLogProperties(await read());
  } catch (error) {
    if (error instanceof VisibleError) return {};
    throw error;
  }
}

/** @throws NotFoundError for what cannot be the name of a Job. */
function parseJobName(request: ObjectRequest): string {
  const { kind, name } = parseReadName(request.name);
  if (kind === 'job') return name;
  throw jobNotFound(request);
}

/** @throws NotFoundError for what cannot be the name of a pod. */
function parsePodName(fullName: string): string {
  const { kind, name } = parseReadName(fullName);
  if (kind === 'pod') return name;
  throw new NotFoundError(`'${fullName}' names no pod: expected 'pod <name>'`);
}

function jobNotFound({ account, location, name }: ObjectRequest): NotFoundError {
  return new NotFoundError(`Job (account: ${account}, location: ${location}, name: ${name}) not found`);
}

async function explain<T>(
  verb: string,
  { account, location, name }: ObjectRequest,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof NotFoundError || !(error instanceof VisibleError)) throw error;
    const what = `(account: ${account}, location: ${location}, name: ${name})`;
    throw new FailedOperationError(`Failed to ${verb} job: ${what}: ${error.message}`, { cause: error });
  }
}
