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
import type { DeployMethod } from '../../manifest/strategy.ts';
import { findVersion, hasSameContent, isAppliedFrom } from '../../manifest/version.ts';
import type { PlannedManifest } from './plan.ts';

/** An object that is not ours, or has other content, has a version's name: it stays as it is. The message says so. */
export class VersionTakenError extends Error {
  override name = 'VersionTakenError';
}

/** A manifest that gets a version. */
export type PlannedVersion = PlannedManifest & { readonly versionOf: Manifest };

/** The options of writing a version. */
export interface VersionWriteOptions extends RetriedWriteOptions {
  /** Reads the live object, at least once. */
  firstLook(): Promise<Manifest | undefined>;
}

/** Whether a manifest gets a version. */
export function isVersion(planned: PlannedManifest): planned is PlannedVersion {
  return planned.versionOf !== undefined;
}

/**
 * Creates the object of a version, and never changes another object. An existing version of the same content is used instead: an earlier
 * try or deploy made it, and only its metadata may change.
 *
 * @throws VersionTakenError if there is any other object, KubernetesApiError if the API server refuses
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
    isLostRace: (error, live) =>
      isLostRace(error, { isThere: live !== undefined, method: planned.strategy.method }),
    signal,
    clock,
  });
}

/** A version, and the existing object of its name. */
export interface FoundVersion {
  readonly planned: PlannedVersion;
  readonly target: WriteTarget;
  readonly live: Manifest;
}

/**
 * Checks that the existing object is the version, with its content. The record of an apply shows it; without a record, the API server is
 * asked whether our write would change anything.
 *
 * @throws VersionTakenError if it has other content, is not a version, or belongs to a controller.
 */
export async function checkVersionOurs(
  client: KubernetesClient,
  { planned, target, live }: FoundVersion,
  options: CallOptions,
): Promise<void> {
  const { versionOf, manifest, strategy, fullName } = planned;
  if (findVersion(live)?.isControlled !== false)
    throw new VersionTakenError(`${fullName} is there and is none of ours`);
  if (isAppliedFrom(live, versionOf) || isAppliedFrom(live, manifest)) return;
  const written = isAppliedHere(planned)
    ? undefined
    : await tryWrite(client, { method: strategy.method, target, live }, options);
  if (written !== undefined && hasSameContent(omitStatus(written), omitStatus(live))) return;
  throw new VersionTakenError(`${fullName} is there with other content, of another deploy`);
}

/** What the API server would make of the existing object; undefined if it would refuse. */
async function tryWrite(
  client: KubernetesClient,
  { method, target, live }: Omit<FoundVersion, 'planned'> & { readonly method: DeployMethod },
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
  { manifest, strategy: { method } }: PlannedManifest,
  options: WriteManifestOptions,
): Promise<ApplyResult> {
  if (method !== 'replace') {
    return createApplied(client, manifest, { ...options, serverSide: method === 'serverSideApply' });
  }
  return { object: await createManifest(client, manifest, options), outcome: 'created', warnings: [] };
}

/** Updates the metadata of a version. */
async function renew(
  client: KubernetesClient,
  { planned: { manifest, strategy }, live }: Pick<FoundVersion, 'planned' | 'live'>,
  options: RetriedWriteOptions,
): Promise<ApplyResult> {
  const { method, forceConflicts } = strategy;
  if (method === 'replace') {
    const object = await replaceManifest(client, manifest, options);
    return { object, outcome: 'configured', warnings: [] };
  }
  if (method !== 'serverSideApply')
    return applyManifest(client, manifest, { ...options, firstLook: async () => live });
  const serverSide = forceConflicts ? 'force-conflicts' : true;
  return applyManifest(client, manifest, { ...options, serverSide });
}

/** Whether changes are computed here, from the record of the last apply. */
function isAppliedHere({ strategy: { method } }: PlannedManifest): boolean {
  return method !== 'replace' && method !== 'serverSideApply';
}

/** True if a write failed because of another client's change since the last read; the next read shows which. */
function isLostRace(
  error: unknown,
  { isThere, method }: { readonly isThere: boolean; readonly method: DeployMethod },
): boolean {
  if (!(error instanceof KubernetesApiError)) return false;
  if (!isThere) return /^(AlreadyExists|Conflict)$/.test(error.reason);
  // A server-side apply fails the same way if another manager owns a field.
  return error.reason === 'Conflict' && method === 'replace';
}

function omitStatus({ status: _status, ...object }: Manifest): Manifest {
  return object;
}
