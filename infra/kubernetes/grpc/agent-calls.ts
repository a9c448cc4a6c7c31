import { randomUUID, X509Certificate } from 'node:crypto';
import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import type { APIGatewayEventClientCertificate } from 'aws-lambda';
import { parseSubjectName, type SubjectName } from '#access/identity/subject-name.ts';
import type { ServiceMethod } from '#agents/protocol/grpc/codec.ts';
import { httpTwins, toHttpRequest } from '#agents/protocol/grpc/http-twins.ts';
import { refusalSchema } from '#agents/protocol/grpc/refusal.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { Route } from '#functions/route.ts';
import { toClientCertificate } from '#infra/server/front-door/front-door-access.ts';
import { type EventRequest, toProxyEvent } from '#infra/server/front-door/http-event.ts';
import { type CollectedAnswer, collectAnswer } from '#infra/server/functions/collected-answer.ts';
import type { Invoker } from '#infra/server/functions/invoker.ts';
import { wallClock } from '#platform/services/system.ts';
import { GrpcRefusalError } from './grpc-refusal.ts';

/** Calls at a time, streams aside: further ones are refused, and come again. */
const callsMax = 512;

/** Of a call of any kind, what counts here. */
export type AgentCall = Pick<
  ServerUnaryCall<JsonObject, JsonObject>,
  'metadata' | 'getPeer' | 'getDeadline' | 'getAuthContext'
>;

/** What calls are passed on with. */
export interface AgentCallsOptions {
  readonly invoker: Pick<Invoker, 'invoke'>;
  /** The routes of agents. */
  readonly routes: readonly Route[];
  /** Of which one must match the certificate of a caller. */
  readonly subjectFilters: readonly SubjectName[] | undefined;
}

/** Hands calls of gRPC to the functions that answer their twins over HTTP. */
export class AgentCalls {
  readonly #options: AgentCallsOptions;
  #running = 0;

  constructor(options: AgentCallsOptions) {
    this.#options = options;
  }

  /**
   * Calls the function of a method.
   *
   * @returns what it answers, `{}` for nothing
   * @throws GrpcRefusalError for what it refuses, FunctionTimeoutError beyond its time or the caller's deadline
   */
  async call(method: Pick<ServiceMethod, 'name'>, call: AgentCall, message: JsonObject): Promise<JsonObject> {
    const certificate = this.admit(call);
    return this.count(() => this.#invoke(method.name, { call, message, certificate }));
  }

  /** Does something as one of the calls that are under way. @throws GrpcRefusalError where there are too many */
  async count<T>(run: () => Promise<T>): Promise<T> {
    if (this.#running >= callsMax)
      throw new GrpcRefusalError({ status: 503, message: `More than ${callsMax} calls are under way` });
    this.#running += 1;
    try {
      return await run();
    } finally {
      this.#running -= 1;
    }
  }

  /** @returns the certificate of the caller, if there is one. @throws GrpcRefusalError for one that no filter lets in */
  admit(call: AgentCall): APIGatewayEventClientCertificate | null {
    const { subjectFilters } = this.#options;
    const raw = call.getAuthContext().sslPeerCertificate?.raw;
    const certificate = raw === undefined ? null : toClientCertificate(new X509Certificate(raw));
    if (subjectFilters === undefined || matches(certificate, subjectFilters)) return certificate;
    const shown = certificate === null ? 'none was shown' : `its subject is ${certificate.subjectDN}`;
    throw new GrpcRefusalError({
      status: 403,
      message: `No filter lets in the client certificate: ${shown}`,
    });
  }

  async #invoke(name: string, { call, message, certificate }: Invocation): Promise<JsonObject> {
    const twin = httpTwins.get(name);
    const route = this.#options.routes.find(
      ({ method, path }) => method === twin?.method && path === twin.path,
    );
    if (twin === undefined || route === undefined) throw new Error(`${name} has no twin`);
    const { path, parameters, rest } = toHttpRequest(twin, message);
    const receivedAtMs = wallClock.now();
    const requestId = randomUUID();
    const event = toProxyEvent({
      request: toRequest(call),
      target: { path, segments: [], query: toQuery(twin.method === 'GET' ? rest : {}) },
      ...{ route, pathParameters: parameters, requestId, receivedAtMs },
      body: toBody(twin.method === 'GET' ? {} : rest),
    });
    event.requestContext.identity.clientCert = certificate;
    const leftSeconds = (Number(call.getDeadline()) - receivedAtMs) / 1000;
    const timeoutSeconds = Math.max(0, Math.min(route.timeoutSeconds, leftSeconds));
    const { module } = route;
    return toMessage(
      await collectAnswer(this.#options.invoker, { module, event, timeoutSeconds, requestId }),
    );
  }
}

interface Invocation {
  readonly call: AgentCall;
  readonly message: JsonObject;
  readonly certificate: APIGatewayEventClientCertificate | null;
}

/** Whether each part of one of the filters is a part of the subject. */
function matches(
  certificate: APIGatewayEventClientCertificate | null,
  filters: readonly SubjectName[],
): boolean {
  const subject = parseSubjectName(certificate?.subjectDN ?? '') ?? [];
  const has = (wanted: SubjectName[number]): boolean =>
    subject.some(({ attribute, value }) => attribute === wanted.attribute && value === wanted.value);
  return filters.some((filter) => filter.every(has));
}

/** Metadata that functions look at. */
const headerNames = ['authorization', 'user-agent'];

function toRequest(call: AgentCall): EventRequest {
  const rawHeaders = headerNames.flatMap((name) => {
    const value = findText(call.metadata, name);
    return value === undefined ? [] : [name, value];
  });
  // gRPC tells an address with its port; IPv6 stands in brackets.
  const remoteAddress = call
    .getPeer()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1');
  return {
    ...{ rawHeaders, httpVersion: '2.0', socket: { remoteAddress } },
    headers: { 'user-agent': findText(call.metadata, 'user-agent') },
  };
}

/** A text of the metadata of a call. */
export function findText(metadata: Metadata, name: string): string | undefined {
  const value = metadata.get(name).at(-1);
  return typeof value === 'string' ? value : undefined;
}

function toQuery(rest: JsonObject): URLSearchParams {
  return new URLSearchParams(
    Object.entries(rest).map(([name, value]) => [name, String(value)] as [string, string]),
  );
}

function toBody(rest: JsonObject): Buffer {
  return Buffer.from(Object.keys(rest).length === 0 ? '' : JSON.stringify(rest));
}

/** @throws GrpcRefusalError for an answer that refuses */
function toMessage({ status, text, retryAfterSeconds }: CollectedAnswer): JsonObject {
  const parsed: unknown = text === '' ? {} : JSON.parse(text);
  if (status < 300 && isJsonObject(parsed)) return parsed;
  throw new GrpcRefusalError({ ...refusalSchema.parse(parsed), retryAfterSeconds });
}
