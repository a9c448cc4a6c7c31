import type { APIGatewayProxyEvent } from 'aws-lambda';
import { AccessDeniedError, RefusedOperationsError, UnauthenticatedError } from '#core/errors.ts';
import { findHeader, findParameter } from '#http/requests/event-parts.ts';
import type { AuditedAct, AuditRecord } from '../audit.ts';
import type { TaskOwners } from '../authorization.ts';
import type { Identity } from '../identity/identifier.ts';
import { getRoute, type RouteFinder } from './access-table.ts';
import type { RequestAccess } from './request-access.ts';

/** Collects what the audit records of a request: the act of its route's row, those that the function adds, and its refusal. */
export class AuditTrail {
  readonly #event: APIGatewayProxyEvent;
  readonly #getRoute: RouteFinder;
  readonly #acts: AuditedAct[] = [];
  #identity: Pick<Identity, 'user'> | undefined;
  #error: unknown;
  /** The accounts of the request's task. */
  #task: Pick<AuditRecord, 'account' | 'accounts'> = {};

  /** @param findRow Default: the route is one of Spinnaker's API */
  constructor(event: APIGatewayProxyEvent, findRow: RouteFinder = getRoute) {
    this.#event = event;
    this.#getRoute = findRow;
  }

  /** The caller is known, but not yet admitted. */
  identify(identity: Pick<Identity, 'user'>): void {
    this.#identity = identity;
  }

  /** The caller is admitted. Returns the same access, which also tells the audit whose task is read. */
  begin(access: RequestAccess): RequestAccess {
    this.identify(access.identity);
    const { audit } = access.route;
    if (audit !== undefined) this.note({ action: audit });
    return {
      ...access,
      checkTask: (task) => {
        this.#auditTask(task);
        access.checkTask(task);
      },
    };
  }

  /** The function does something to be recorded. What it names takes precedence over the path. */
  note(act: AuditedAct): void {
    const index = this.#acts.findIndex(({ action }) => action === act.action);
    if (index < 0) this.#acts.push(act);
    else this.#acts[index] = { ...this.#acts[index], ...act };
  }

  /** The stored accounts of a task take precedence over those in a body. */
  #auditTask({ accounts }: Pick<TaskOwners, 'accounts'>): void {
    this.#task = { account: accounts[0], accounts: accounts.length > 1 ? accounts : undefined };
    for (const [index, act] of this.#acts.entries()) this.#acts[index] = { ...act, ...this.#task };
  }

  /** The request failed. @param error what was thrown */
  fail(error: unknown): void {
    this.#error = error;
  }

  /** The records. @param status of the answer */
  listRecords(status: number): readonly AuditRecord[] {
    const refusal = findRefusal(this.#error);
    const outcome = refusal !== undefined ? 'refused' : status < 400 ? 'allowed' : 'failed';
    const acts = this.#acts.length === 0 && refusal !== undefined ? [this.#toRefusedAct()] : this.#acts;
    return acts.map((act) => ({
      ...this.#describe(),
      ...act,
      outcome,
      status,
      ...(refusal !== undefined && { reason: refusal }),
    }));
  }

  /** The refused act, under the same name as where it is allowed. */
  #toRefusedAct(): AuditedAct {
    const { httpMethod, resource } = this.#event;
    return { action: this.#getRoute(this.#event).audit ?? `${httpMethod} ${resource}` };
  }

  #describe(): Omit<AuditRecord, 'action' | 'outcome' | 'status'> {
    const event = this.#event;
    const find = (name: string): string | undefined => findParameter(event, name);
    const isTask = event.resource.includes('/task/');
    return {
      ...this.#describeCaller(),
      account: find('account'),
      application: find('application'),
      location: find('location') ?? find('region'),
      name: find('name') ?? find('pod') ?? (isTask ? undefined : find('id')),
      taskId: isTask ? find('id')?.replace(/:resume$/, '') : undefined,
      requestId: findHeader(event, 'x-spinnaker-request-id'),
      executionId: findHeader(event, 'x-spinnaker-execution-id'),
      sourceIp: event.requestContext?.identity?.sourceIp,
      ...this.#task,
    };
  }

  #describeCaller(): Pick<AuditRecord, 'user' | 'claimedUser'> {
    if (this.#identity !== undefined) return { user: this.#identity.user };
    return { claimedUser: findHeader(this.#event, 'x-spinnaker-user') };
  }
}

/** Why it was refused; undefined where it was not. A refused operation is one of several violations. */
function findRefusal(error: unknown): string | undefined {
  if (error instanceof RefusedOperationsError) return error.denial;
  const isRefusal = error instanceof AccessDeniedError || error instanceof UnauthenticatedError;
  return isRefusal ? error.message : undefined;
}
