import type { CallOptions, KubernetesClient } from '../../api/client.ts';
import { KubernetesApiError } from '../../api/errors.ts';
import type { Manifest } from '../../api/manifest.ts';
import { applyManifest, createApplied } from '../../apply/apply.ts';
import type { ApplyResult } from '../../apply/result.ts';
import { retryWrite } from '../../apply/retry-write.ts';
import { tryServerSide } from '../../apply/server-side-apply.ts';
import {
  type RetriedWriteOptions,
  resolveTarget,
  type WriteManifestOptions,
  type WriteTarget,
} from '../../apply/target.ts';
import { createManifest, replaceManifest, tryReplace } from '../../apply/write.ts';
import { holdsManifest, readResourceVersion } from '../../apply/write-trace.ts';
import { readStrategy } from '../../manifest/strategy.ts';
import { findVersion, hasSameContent, isAppliedFrom } from '../../manifest/version.ts';
import type { PlannedManifest } from './plan.ts';

/** Under the name of a version there is an object that is none of ours, or has other content: it stays as it is. Its message says so. */
export class VersionTakenError extends Error {
  override name = 'VersionTakenError';
}

/** A manifest that gets a version. */
export type PlannedVersion = PlannedManifest & { readonly versionOf: Manifest };

/** How a version is written. */
export interface VersionWriteOptions extends RetriedWriteOptions {
  /** Reads the live object, at least once. */
  firstLook(): Promise<Manifest | undefined>;
}

/** Whether a manifest gets a version. */
export function isVersion(planned: PlannedManifest): planned is PlannedVersion {
  return planned.versionOf !== undefined;
}

/**
 * Creates the object of a version, and never changes another one's. An object that is a version of the same content is taken for
 * it: an earlier try made it, or an earlier deploy; then only its metadata may change.
 *
 * @throws VersionTakenError when there is any other object, KubernetesApiError as the API server refuses
 */
export async function writeVersion(
  client: KubernetesClient,
  planned: PlannedVersion,
  { firstLook, ...options }: VersionWriteOptions,
): Promise<ApplyResult> {
  const { signal, clock } = options;
  const target = await resolveTarget(client, planned.manifest, options);
  return retryWrite({
    look: (retry) => (retry === 0 ? firstLook() : client.get(target.ref, { signal })),
    async write(live) {
      if (live === undefined) return create(client, planned, options);
      await checkVersionOurs(client, { planned, target, live }, { signal });
      return holdsManifest(live, target.manifest) && !isAppliedHere(planned)
        ? { object: live, outcome: 'unchanged', warnings: [] }
        : renew(client, { planned, live }, options);
    },
    isLostRace: (error, live) => isLostRace(error, { isThere: live !== undefined, method: planned.method }),
    signal,
    clock,
  });
}

/** A version, and what is there under its name. */
export interface FoundVersion {
  readonly planned: PlannedVersion;
  readonly target: WriteTarget;
  readonly live: Manifest;
}

/**
 * Checks that what is there is the version, and has its content. The record of an apply tells; where there is none, the API server is
 * asked whether our write would change anything.
 *
 * @throws VersionTakenError when it has another content, is no version, or is a controller's.
 */
export async function checkVersionOurs(
  client: KubernetesClient,
  { planned, target, live }: FoundVersion,
  options: CallOptions,
): Promise<void> {
  const { versionOf, manifest, method, fullName } = planned;
  if (findVersion(live)?.isControlled !== false)
    throw new VersionTakenError(`${fullName} is there and is none of ours`);
  if (isAppliedFrom(live, versionOf) || isAppliedFrom(live, manifest)) return;
  const written = isAppliedHere(planned)
    ? undefined
    : await tryWrite(client, { method, target, live }, options);
  if (written !== undefined && hasSameContent(omitStatus(written), omitStatus(live))) return;
  throw new VersionTakenError(`${fullName} is there with other content, of another deploy`);
}

/** What the API server would make of what is there; undefined when it would refuse. */
async function tryWrite(
  client: KubernetesClient,
  { method, target, live }: Pick<PlannedManifest, 'method'> & Omit<FoundVersion, 'planned'>,
  options: CallOptions,
): Promise<Manifest | undefined> {
  try {
    if (method === 'serverSideApply') return await tryServerSide(client, { ...target, live }, options);
    return await tryReplace(client, target, { ...options, version: readResourceVersion(live) ?? '' });
  } catch (error) {
    const isRefused = error instanceof KubernetesApiError && (error.status === 422 || error.status === 400);
    if (!isRefused) throw error;
    return undefined;
  }
}

async function create(
  client: KubernetesClient,
  { manifest, method }: PlannedManifest,
  options: WriteManifestOptions,
): Promise<ApplyResult> {
  if (method !== 'replace') {
    return createApplied(client, manifest, { ...options, serverSide: method === 'serverSideApply' });
  }
  return { object: await createManifest(client, manifest, options), outcome: 'created', warnings: [] };
}

/** Brings the metadata of a version up to date. */
async function renew(
  client: KubernetesClient,
  { planned: { manifest, method }, live }: Pick<FoundVersion, 'planned' | 'live'>,
  options: RetriedWriteOptions,
): Promise<ApplyResult> {
  if (method === 'replace') {
    const object = await replaceManifest(client, manifest, options);
    return { object, outcome: 'configured', warnings: [] };
  }
  if (method !== 'serverSideApply')
    return applyManifest(client, manifest, { ...options, firstLook: async () => live });
  const serverSide = readStrategy(manifest).forceConflicts ? 'force-conflicts' : true;
  return applyManifest(client, manifest, { ...options, serverSide });
}

/** Whether its changes are found here, by the record of the last apply. */
function isAppliedHere({ method }: PlannedManifest): boolean {
  return method !== 'replace' && method !== 'serverSideApply';
}

/** True when a write failed because of what somebody else did since the look; the next look tells what. */
function isLostRace(
  error: unknown,
  { isThere, method }: Pick<PlannedManifest, 'method'> & { readonly isThere: boolean },
): boolean {
  if (!(error instanceof KubernetesApiError)) return false;
  if (!isThere) return /^(AlreadyExists|Conflict)$/.test(error.reason);
  // A server-side apply answers so, too, when another manager owns a field.
  return error.reason === 'Conflict' && method === 'replace';
}

function omitStatus({ status: _status, ...object }: Manifest): Manifest {
  return object;
}
