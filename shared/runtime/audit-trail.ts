import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { AuditRecord } from '../core/audit.ts';
import { AccessDeniedError, InvalidInputError } from '../core/errors.ts';
import { type AuditedAct, findHeader, findParameter } from './api-request.ts';
import type { RequestAccess } from './request-access.ts';

/**
 * What of a request belongs into the audit: the act that the row of its route names, those that the function names, and its refusal.
 */
export class AuditTrail {
  readonly #event: APIGatewayProxyEvent;
  readonly #acts: AuditedAct[] = [];
  #user: string | undefined;

  constructor(event: APIGatewayProxyEvent) {
    this.#event = event;
    this.#user = findHeader(event, 'x-spinnaker-user');
  }

  /** The caller is let in. */
  begin({ identity, route }: RequestAccess): void {
    this.#user = identity.user;
    if (route.audit !== undefined) this.note({ action: route.audit });
  }

  /** The function does something that is to be recorded. What it names counts more than the path. */
  note(act: AuditedAct): void {
    const index = this.#acts.findIndex(({ action }) => action === act.action);
    if (index < 0) this.#acts.push(act);
    else this.#acts[index] = { ...this.#acts[index], ...act };
  }

  /** What is to be recorded. @param error what was thrown, if anything */
  listRecords(status: number, error?: unknown): readonly AuditRecord[] {
    const refusal = findRefusal(error, status);
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

  #toRefusedAct(): AuditedAct {
    return { action: `${this.#event.httpMethod} ${this.#event.resource}` };
  }

  #describe(): Omit<AuditRecord, 'action' | 'outcome' | 'status'> {
    const event = this.#event;
    const find = (name: string): string | undefined => findParameter(event, name);
    return {
      user: this.#user,
      account: find('account'),
      application: find('application'),
      location: find('location') ?? find('region'),
      name: find('name') ?? find('pod') ?? (event.resource.includes('/task/') ? undefined : find('id')),
      taskId: event.resource.includes('/task/') ? find('id') : undefined,
      requestId: findHeader(event, 'x-spinnaker-request-id'),
      executionId: findHeader(event, 'x-spinnaker-execution-id'),
      sourceIp: event.requestContext?.identity?.sourceIp,
    };
  }
}

/** Why it was refused; undefined where it was not. Operations that are refused are violations among others. */
function findRefusal(error: unknown, status: number): string | undefined {
  if (error instanceof AccessDeniedError || status === 401) {
    return error instanceof Error ? error.message : 'no proof of who calls';
  }
  if (!(error instanceof InvalidInputError)) return undefined;
  return error.errors.find((text) => text.startsWith('Access denied'));
}
