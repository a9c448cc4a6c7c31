import { type AuditedAct, auditListMax } from '#access/audit.ts';
import { parseApplicationCheck } from '#access/authorization.ts';
import { findStoredPlaces } from '#artifact-store/stored-places.ts';
import { InvalidInputError, RefusedOperationsError } from '#core/errors.ts';
import type { JsonValue } from '#core/json.ts';
import { type ApiRequest, type ApiResponse, ok } from '#http/api-handler.ts';
import { findNewerProviders } from '#provider-kit/services/providers.ts';
import { getTask } from '../get-task.ts';
import { acceptOperations, checkOperations, restartTask } from '../requests/accept-operations.ts';
import { listClaims, toClaimedAct, toOwners } from '../requests/operation-claims.ts';
import type { OperationsServices } from '../services/operations.ts';
import type { Task } from '../task.ts';
import { toTaskReference } from './task-reference.ts';

/** Where each route has its operations. */
interface OperationsBody {
  readonly body: JsonValue;
  readonly cloudProvider: string | undefined;
}

/** Answers a request for operations. */
export async function startOperations(
  request: ApiRequest,
  services: OperationsServices,
  operations: OperationsBody,
): Promise<ApiResponse> {
  auditClaims(request, operations.body);
  return withNewestSettings(services, operations, async (current) => {
    await expandBody(request, current, operations.body);
    const task = await acceptOperations(current, current.providers, {
      ...operations,
      isDryRun: request.getFlag('dryRun', false),
      clientRequestId: request.findQuery('clientRequestId') ?? '',
      caller: request.caller,
      rights: request.access.getRights(current.providers),
      onDenied: (applications) => denyOrReport(request, current, applications),
    });
    auditTask(request, task);
    return ok(toTaskReference(task));
  });
}

/** Answers a request to start a task again with other operations, under the same rules as a new task. */
export async function restartOperations(
  request: ApiRequest,
  services: OperationsServices,
  { id, ...operations }: OperationsBody & { readonly id: string },
): Promise<ApiResponse> {
  auditClaims(request, operations.body);
  if (Array.isArray(operations.body) && operations.body.length === 0) {
    throw new InvalidInputError('The body must hold at least one operation');
  }
  return withNewestSettings(services, operations, async (current) => {
    await expandBody(request, current, operations.body);
    const rights = request.access.getRights(current.providers);
    const onDenied = (applications: readonly string[]) => denyOrReport(request, current, applications);
    const checked = await checkOperations(current.providers, { ...operations, rights, onDenied });
    const task = await getTask(current.store, id);
    request.access.checkTask(task);
    const restarted = await restartTask(current, task, checked);
    auditTask(request, restarted);
    return ok(toTaskReference(restarted));
  });
}

/** Expands references to the artifact store. Its code is loaded with the first reference: few installations have such a store. */
async function expandBody(request: ApiRequest, services: OperationsServices, body: JsonValue): Promise<void> {
  const places = [...findStoredPlaces(body)];
  if (places.length === 0) return;
  const { openArtifactStore } = await import('#artifact-store/services/artifact-store.ts');
  const { expandStored } = await import('#accounts/http/stored-references.ts');
  await expandStored(places, {
    openStore: () => openArtifactStore(services.all, services.settings),
    rights: request.access.getRights(services.providers),
    signal: request.signal,
    bodyBytes: Buffer.byteLength(JSON.stringify(body)),
  });
}

/** Does what the settings say with operations whose applications the caller may not write to. @throws RefusedOperationsError under `enforce` */
async function denyOrReport(
  request: ApiRequest,
  services: OperationsServices,
  applications: readonly string[],
): Promise<void> {
  const check = parseApplicationCheck(services.settings);
  if (check === 'off') return;
  const named = applications.slice(0, auditListMax);
  const denials = named.map((name) => `Access denied to application ${name.slice(0, 100)}`);
  if (check === 'enforce') throw new RefusedOperationsError(denials, { denial: denials[0] ?? '' });
  note(request, { wouldRefuse: denials });
  // Loaded late: most callers may write to what they name.
  const { countReportedRefusal } = await import('../services/reported-refusals.ts');
  countReportedRefusal(services);
}

/** Records what a body claims, for the audit, before anything is checked. */
function auditClaims(request: ApiRequest, body: JsonValue): void {
  note(request, toClaimedAct(body));
}

/** Records the task, for the audit. */
function auditTask(request: ApiRequest, { id, accounts }: Pick<Task, 'id' | 'accounts'>): void {
  note(request, { ...toOwners(accounts), taskId: id });
}

function note(request: ApiRequest, act: Omit<AuditedAct, 'action'>): void {
  request.audit({ action: request.access.route.audit ?? 'startOperations', ...act });
}

/** Counts a refused request, by its first operation. */
function countRefusal({ meter }: OperationsServices, { body }: OperationsBody): void {
  const operation = listClaims(body, 1)[0]?.name ?? 'none';
  meter?.record('validationErrors', { operation });
}

/** A refused request may name a new account: it is checked again with newer settings. */
async function withNewestSettings(
  services: OperationsServices,
  operations: OperationsBody,
  answer: (current: OperationsServices) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    return await answer(services);
  } catch (error) {
    const newer = error instanceof InvalidInputError ? await findNewerProviders(services) : undefined;
    if (newer === undefined) {
      if (error instanceof InvalidInputError) countRefusal(services, operations);
      throw error;
    }
    return answer({ ...services, ...newer });
  }
}
