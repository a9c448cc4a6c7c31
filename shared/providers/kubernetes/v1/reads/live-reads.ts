import type { V1Pod } from '@kubernetes/client-node';
import { NotFoundError, VisibleError } from '#core/errors.ts';
import { asString } from '#core/json.ts';
import type { JobReader, LiveReads, ObjectRequest } from '#provider-kit/live-reads.ts';
import { boundToAccount } from '../../account/bounded-client.ts';
import type { KubernetesSession } from '../../account/session.ts';
import { loadV1Namespaces } from '../../account/v1-namespaces.ts';
import type { KubernetesClient } from '../../api/client.ts';
import type { Manifest } from '../../api/manifest.ts';
import { findNameProblem } from '../../api/names.ts';
import { asUnchecked, readList } from '../../api/unchecked.ts';
import { listConsoleOutput, podResource, readLog, readProperties } from '../../reads/pod-logs.ts';
import { checkLocation, checkReadNamespace, explainJob } from '../../reads/read-target.ts';
import { getV1JobState, toV1JobView } from '../views/job-view.ts';

/** How much of a job's log is shown, bytes from the beginning: the console shows the rest. */
const shownLogBytesMax = 100_000;

/** Live reads of V1 accounts, through the clients of a session: of pods, by their bare names. */
export function createV1LiveReads(session: KubernetesSession): LiveReads {
  const open = (request: ObjectRequest) => openV1Client(session, request);
  const getFileContents: JobReader['getFileContents'] = async (request, container) => {
    const client = await open(request);
    return readProperties(() => readLog(client, { ...toPodName(request), container }));
  };
  return {
    jobs: {
      getJob: (request) =>
        explainJob('read', request, async () => {
          const client = await open(request);
          const pod = await getPod(client, request);
          return toV1JobView(request.account, pod, await findLogs(client, request, pod));
        }),
      cancelJob: (request) =>
        explainJob('cancel', request, async () => {
          const client = await open(request);
          const answer = await client.delete(toRef(request), { propagationPolicy: 'Background' });
          if (answer === undefined) throw notFound(request);
        }),
      getFileContents,
    },
    instances: {
      getConsoleOutput: async (request) => listConsoleOutput(await open(request), toPodName(request)),
      getFileContents,
    },
  };
}

/** A client that reaches nothing outside the account's namespaces. @throws NotFoundError for a namespace that it may not use */
async function openV1Client(session: KubernetesSession, request: ObjectRequest): Promise<KubernetesClient> {
  const account = session.findV1Account(request.account);
  if (account === undefined)
    throw new NotFoundError(`There is no Kubernetes V1 account '${request.account}'`);
  checkLocation(request);
  const client = await session.getClient(account);
  const namespaces = await loadV1Namespaces(account, client, new AbortController().signal);
  const bounds = { ...account, namespaces };
  checkReadNamespace(bounds, request);
  return boundToAccount(client, bounds);
}

async function getPod(client: KubernetesClient, request: ObjectRequest): Promise<Manifest> {
  const pod = await client.get(toRef(request));
  if (pod === undefined) throw notFound(request);
  return pod;
}

/** The log of the first container of an ended job; undefined if it cannot be read any more. */
async function findLogs(
  client: KubernetesClient,
  request: ObjectRequest,
  pod: Manifest,
): Promise<string | undefined> {
  const state = getV1JobState(pod);
  const container = asString(readList(asUnchecked<V1Pod>(pod).spec?.containers)[0]?.name);
  if ((state !== 'Succeeded' && state !== 'Failed') || container === undefined) return undefined;
  try {
    return await readLog(client, { ...toPodName(request), container, bytesMax: shownLogBytesMax });
  } catch (error) {
    if (error instanceof VisibleError) return undefined;
    throw error;
  }
}

function toRef(request: ObjectRequest) {
  const { location: namespace, pod: name } = toPodName(request);
  return { resource: podResource, namespace, name };
}

/** @throws NotFoundError for an invalid name of a pod */
function toPodName(request: ObjectRequest): { readonly location: string; readonly pod: string } {
  const { location, name: pod } = request;
  if (findNameProblem(pod) !== undefined) throw notFound(request);
  return { location, pod };
}

function notFound({ account, location, name }: ObjectRequest): NotFoundError {
  return new NotFoundError(`Pod (account: ${account}, location: ${location}, name: ${name}) not found`);
}
