import type {
  ContainerMetricsView,
  ManifestCoordinates,
  WrittenManifestView,
} from '#contract/answers/manifests.ts';
import { NotFoundError, VisibleError } from '#core/errors.ts';
import { asJsonObject, asString, omitNulls, withDoubles } from '#core/json.ts';
import { toArtifactView } from '#provider-kit/artifact.ts';
import type { ClusterManifestsRequest, ManifestReader, ManifestRequest } from '#provider-kit/live-reads.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { OutOfBoundsError } from '../account/account-bounds.ts';
import type { KubernetesSession } from '../account/session.ts';
import type { ListRequest } from '../api/client.ts';
import { KubernetesApiError, toLiveReadError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { findKindProblem } from '../api/names.ts';
import { judgeReadiness } from '../kinds/kstatus.ts';
import { parseKind } from '../kinds/name.ts';
import { explainStatus, type ManifestStatus, markFailed, markUnstable } from '../kinds/status.ts';
import { annotationKeys, readAnnotations } from '../manifest/annotations.ts';
import { findArtifacts } from '../manifest/artifacts.ts';
import { parseTargetCriteria, pickTarget } from '../manifest/dynamic-target.ts';
import { omitManagedFields } from '../manifest/edit.ts';
import { readFullName, readKind, readMoniker, readName, readNamespace } from '../manifest/identity.ts';
import { readReadinessRules } from '../manifest/readiness.ts';
import { isSecret, listSecretValues, maskSecrets, maskValues } from '../manifest/sensitive.ts';
import { type EventsRequest, readEvents, sortEvents } from './events.ts';
import { readPodMetrics } from './pod-metrics.ts';
import { findPodTrouble } from './pod-trouble.ts';
import { getReadAccount, getReadClient, isLocation, parseReadName } from './read-target.ts';

import { WatchedEvents } from './watched-events.ts';

/** Live reads through the clients of a session. */
export function createManifestReader(session: KubernetesSession): ManifestReader {
  const watchedEvents = new WatchedEvents(session);
  return {
    getManifest: (request) => getManifest(request, { session, watchedEvents }),
    isSecret: (name) => /^secret(?:\.\S*)? /i.test(name),
    async listClusterManifests(request) {
      const members = await listMembers(session, request, { metadataOnly: true });
      return members.map((object) => toCoordinates(object, request.kind));
    },
    async getDynamicManifest(request, criteria) {
      const parsed = parseTargetCriteria(criteria);
      const metadataOnly = parsed !== 'largest' && parsed !== 'smallest';
      const picked = pickTarget(await listMembers(session, request, { metadataOnly }), parsed);
      if (picked !== undefined) return toCoordinates(picked, request.kind);
      const { kind, location, application, cluster } = request;
      throw new NotFoundError(
        `No ${criteria} ${kind} of cluster '${cluster}' and application '${application}' was found in ${location}`,
      );
    },
  };
}

/** The tools for reading manifests. */
interface ReadTools {
  readonly session: KubernetesSession;
  readonly watchedEvents: WatchedEvents;
}

async function getManifest(
  request: ManifestRequest,
  { session, watchedEvents }: ReadTools,
): Promise<WrittenManifestView> {
  const account = getReadAccount(session, request.account);
  const fullName = parseReadName(request.name);
  const { location, name } = request;
  const what = `(account: ${request.account}, location: ${location}, name: ${name})`;
  if (!isLocation(location)) throw new NotFoundError(`Manifest ${what} not found`);
  try {
    const client = await getReadClient(session, account);
    const options = { signal: request.signal };
    const resource = await client.getResourceOfKind(fullName.kind, options);
    const ref = { resource, namespace: location, name: fullName.name };
    const target = { client, account, ref };
    const [object, events, metrics] = await Promise.all([
      client.get(ref, options),
      request.includeEvents ? readEvents(target, watchedEvents, options) : [],
      request.includeEvents ? readMetrics(target) : [],
    ]);
    if (object === undefined) throw new NotFoundError(`Manifest ${what} not found`);
    const { revealSecrets } = request;
    const judged = getObjectStatus(object, { account, nowMs: session.clock.now() });
    const isStuck = !judged.stable.state || judged.failed.state;
    const status = explainStatus(judged, isStuck ? await findPodTrouble(object, target, options) : undefined);
    // Sorted only once the object has arrived, to include what a watch has reported meanwhile.
    return toManifestView(object, { status, account, events: sortEvents(events), metrics, revealSecrets });
  } catch (error) {
    if (error instanceof NotFoundError || !(error instanceof VisibleError)) throw error;
    throw toReadError(error, `Failed to read manifest: ${what}`);
  }
}

/**
 * The status of a live object: by Clouddriver's rules, or by the stricter of these and kstatus if it or its account asks for kstatus.
 *
 * @throws FailedOperationError for an apiVersion whose status cannot be read.
 */
function getObjectStatus(
  object: Manifest,
  { account, nowMs }: { account: KubernetesAccount; nowMs: number },
): ManifestStatus {
  const status = account.kindRegistry.find(readKind(object)).getStatus(object);
  if ((readReadinessRules(object) ?? account.readiness) !== 'kstatus') return status;
  const { state, message } = judgeReadiness(object, nowMs);
  if (state === 'current') return status;
  // Clouddriver's own sentence comes first, and counts the same replicas.
  const unstable = status.stable.state ? markUnstable(status, message) : status;
  return state === 'failed' && !status.failed.state ? markFailed(unstable, message) : unstable;
}

/** A pod's metrics, if the account has them read and the cluster measures them. */
function readMetrics({ client, account, ref }: EventsRequest): Promise<ContainerMetricsView[]> | [] {
  return account.metrics && ref.resource.kind === 'Pod' ? readPodMetrics(client, ref) : [];
}

/** The parts of a view of a live object. */
interface ViewParts {
  readonly status: ManifestStatus;
  readonly account: KubernetesAccount;
  readonly events: readonly Manifest[];
  readonly metrics: readonly ContainerMetricsView[];
  readonly revealSecrets: boolean;
}

function toManifestView(live: Manifest, parts: ViewParts): WrittenManifestView {
  const { account, status, events, metrics, revealSecrets } = parts;
  const kind = account.kindRegistry.find(readKind(live));
  const object = revealSecrets ? live : maskSecrets(live);
  const values = !revealSecrets && isSecret(live) ? listSecretValues(live) : [];
  return {
    account: account.name,
    name: readFullName(object),
    location: readNamespace(object),
    moniker: readMoniker(object),
    manifest: toShown(object),
    status,
    artifacts: findArtifacts(object, kind).map(toArtifactView),
    events: events.map((event) => toShown(maskEvent(event, values))),
    warnings: [],
    metrics,
  };
}

/** Masks an event about a Secret, which may quote its values. */
function maskEvent(event: Manifest, values: readonly string[]): Manifest {
  if (values.length === 0) return event;
  const texts = ['message', 'note'] as const;
  const masked = texts.flatMap((key) => {
    const text = asString(event[key]);
    return text === undefined ? [] : [[key, maskValues(text, values)] as const];
  });
  const annotations = Object.entries(readAnnotations(event)).map(
    ([key, text]) => [key, maskValues(text, values)] as const,
  );
  return {
    ...event,
    ...Object.fromEntries(masked),
    ...(annotations.length > 0 && {
      metadata: { ...asJsonObject(event.metadata), annotations: Object.fromEntries(annotations) },
    }),
  };
}

/** An object as Spinnaker shows it: without nulls, which Orca's maps refuse, numbers as doubles. */
function toShown(object: Manifest): unknown {
  return withDoubles(omitNulls(omitManagedFields(object)));
}

/**
 * The live objects of a kind that a deploy marked as members of a cluster. Only annotations count: Spinnaker did not deploy an object that
 * merely has a matching name.
 */
async function listMembers(
  session: KubernetesSession,
  request: ClusterManifestsRequest,
  { metadataOnly }: Pick<ListRequest, 'metadataOnly'>,
): Promise<Manifest[]> {
  const { location, kind, application, cluster } = request;
  const account = getReadAccount(session, request.account);
  const problem = findKindProblem(kind) ?? (isLocation(location) ? undefined : 'expected a namespace');
  if (problem !== undefined) throw new NotFoundError(`There is no ${kind} in ${location}: ${problem}`);
  try {
    const client = await getReadClient(session, account);
    const resource = await client.getResourceOfKind(parseKind(kind));
    const objects = await client.list({ resource, namespace: location, metadataOnly });
    return objects.filter((object) => {
      const annotations = readAnnotations(object);
      return (
        annotations[annotationKeys.cluster] === cluster &&
        annotations[annotationKeys.application] === application
      );
    });
  } catch (error) {
    if (!(error instanceof VisibleError)) throw error;
    throw toReadError(error, `Failed to list ${kind} in ${location} of account ${account.name}`);
  }
}

/**
 * Not found for a kind that the cluster does not serve, and for what is outside the account's bounds; other failures are not caused by the
 * request.
 */
function toReadError(error: VisibleError, what: string): VisibleError {
  const isUnserved = error instanceof KubernetesApiError && error.status === 404;
  if (isUnserved || error instanceof OutOfBoundsError)
    return new NotFoundError(`${what}: ${error.message}`, { cause: error });
  return toLiveReadError(error, what);
}

function toCoordinates(object: Manifest, kind: string): ManifestCoordinates {
  return { kind: parseKind(kind), namespace: readNamespace(object), name: readName(object) };
}
