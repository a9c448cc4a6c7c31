import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { AuditRecord } from '#access/audit.ts';
import type { RouteFinder } from '#access/http/access-table.ts';
import type { AdmitOptions, GateServices, RequestAccess } from '#access/http/request-access.ts';
import type { Services } from '#platform/services/services.ts';
import type { ForwardCall } from '#upstream/http/forward.ts';
import type { ApiResponse } from './api-response.ts';
import type { AnsweredRequest } from './request-log.ts';

/** Admits callers, and records what they did. */
export interface Gate {
  /** Finds the row of a request's route. Default: it is one of Spinnaker's API. */
  readonly getRoute?: RouteFinder;
  /** Converts an event of another form to a REST API's. Default: it has that form. */
  readEvent?(event: APIGatewayProxyEvent): APIGatewayProxyEvent;
  /**
   * Checks what the row of the request's route asks.
   *
   * @throws AccessDeniedError, UnauthenticatedError or UnavailableError where the caller is not admitted; Error for a route without a row.
   */
  admit(event: APIGatewayProxyEvent, options: AdmitOptions): Promise<RequestAccess>;
  /** Writes audit records. Never throws. */
  record(records: readonly AuditRecord[], all: Services): Promise<void>;
  /** Answers an admitted request, here or by the Clouddriver behind this one. Default: here. */
  forward?(call: ForwardCall): Promise<ApiResponse>;
  /** Logs a whole request, where the settings ask for it. Default: logs none. */
  logRequest?(request: AnsweredRequest, services: GateServices): Promise<void>;
}
