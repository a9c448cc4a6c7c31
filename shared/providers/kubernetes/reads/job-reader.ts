import type { V1Job } from '@kubernetes/client-node';
import { NotFoundError } from '#core/errors.ts';
import type { JobDeletion, JobReader, ObjectRequest } from '#provider-kit/live-reads.ts';
import type { KubernetesSession } from '../account/session.ts';
import { getBuiltInResource } from '../api/built-in-resources.ts';
import type { KubernetesClient } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { readName } from '../manifest/identity.ts';
import { formatSelectors, readLabelSelector } from '../manifest/selectors.ts';
import { sortByUse, toJobView } from './job-view.ts';
import { podResource, readLog, readProperties } from './pod-logs.ts';
import { explainJob, openNamespace, parseReadName } from './read-target.ts';

const jobResource = getBuiltInResource('batch/v1', 'Job');

/** Live reads of Jobs and their logs through the clients of a session. A "file" is the log of a container. */
export function createJobReader(session: KubernetesSession): JobReader {
  return {
    getJob: (request) =>
      explainJob('read', request, async () => {
        const client = await openNamespace(session, request);
        const job = await getJob(client, request);
        const pods = await listPods(client, job, request.location);
        const { detailedPodStatus } = session.settings;
        return toJobView({ account: request.account, job, pods, detailedPodStatus });
      }),
    cancelJob: (request) =>
      explainJob('cancel', request, async () => deleteJob(await openNamespace(session, request), request)),
    getFileContents: async (request, container) => {
      const client = await openNamespace(session, request);
      return readProperties(() => readJobLog(client, request, container));
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

/** Deletes its pods too: otherwise nothing would be cancelled. */
async function deleteJob(client: KubernetesClient, request: JobDeletion): Promise<void> {
  const { location: namespace, uid } = request;
  const name = parseJobName(request);
  const ref = { resource: jobResource, namespace, name };
  const options = { propagationPolicy: 'Background' } as const;
  if (uid === undefined) {
    if ((await client.delete(ref, options)) === undefined) throw jobNotFound(request);
    return;
  }
  try {
    await client.delete(ref, { ...options, preconditions: { uid } });
  } catch (error) {
    if (!(error instanceof KubernetesApiError) || error.reason !== 'Conflict') throw error;
  }
}

/** The pods that a Job's selector selects. The API server adds a missing selector when it creates the Job. */
function listPods(client: KubernetesClient, job: Manifest, location: string): Promise<Manifest[]> {
  const selectors = readLabelSelector(asUnchecked<V1Job>(job).spec?.selector);
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

/** @throws NotFoundError for an invalid name of a Job. */
function parseJobName(request: ObjectRequest): string {
  const { kind, name } = parseReadName(request.name);
  if (kind === 'job') return name;
  throw jobNotFound(request);
}

function jobNotFound({ account, location, name }: ObjectRequest): NotFoundError {
  return new NotFoundError(`Job (account: ${account}, location: ${location}, name: ${name}) not found`);
}
