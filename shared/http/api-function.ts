import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context, StreamifyHandler } from 'aws-lambda';
import { AuditTrail } from '#access/http/audit-trail.ts';
import type { Identity } from '#access/identity/identifier.ts';
import type { ErrorBody } from '#contract/answers/errors.ts';
import type { Logger } from '#core/logger.ts';
import { isResponseStreaming } from '#platform/config.ts';
import { makeFunction, type ServiceFunction } from '#platform/services/function.ts';
import { addLogFields, runWithLogFields, toInvocationFields } from '#platform/services/logger.ts';
import type { Services } from '#platform/services/services.ts';
import { type Answer, awaitFirstPiece } from './answer.ts';
import { createStreamTransfer, type Transfer, wholeTransfer } from './answer-transfer.ts';
import { type ApiContext, answering, type Exchange, endingEarly, negotiating } from './api-middlewares.ts';
import { type ApiRequest, createRequest, toLogFields } from './api-request.ts';
import { type ApiResponse, toAnswer } from './api-response.ts';
import type { Gate } from './gate.ts';

/** What every function uses. */
export interface LoggingServices {
  readonly log: Logger;
}

/** Takes the stream for its answer. */
type StreamingFunction = StreamifyHandler<APIGatewayProxyEvent, void>;

/** Returns its answer. */
type ReturningFunction = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** A Lambda function behind API Gateway's REST proxy integration: it returns its answer, or streams it where answers are streamed. */
export type ApiFunction = ServiceFunction<StreamingFunction> | ServiceFunction<ReturningFunction>;

/** How to answer a route. */
export interface ApiLogic<C extends LoggingServices> {
  /** Opens what the function uses; called with each request, so it should share what it made. */
  open(services: Services): C | Promise<C>;
  run(request: ApiRequest, services: C): Promise<ApiResponse>;
  /** The form of its errors. Default: Clouddriver's. */
  readonly toErrorForm?: ((body: ErrorBody) => object) | undefined;
}

/**
 * Makes a Lambda function from a route's logic: the gate admits the caller, the request is parsed, errors become Clouddriver's error body,
 * the answer is compressed for callers that accept it, and the audit gets its records.
 */
export function makeApiFunction<C extends LoggingServices>(logic: ApiLogic<C>, gate: Gate): ApiFunction {
  const make = (all: Services) => makeDispatch({ ...logic, open: () => logic.open(all) }, { all, gate });
  if (!isResponseStreaming()) {
    return makeFunction((all): ReturningFunction => {
      const dispatch = make(all);
      return (event, lambda) => dispatch(event, lambda, wholeTransfer);
    });
  }
  const { streamifyResponse } = awslambda;
  const call = makeFunction((all): StreamingFunction => {
    const dispatch = make(all);
    return (event, stream, lambda) => dispatch(event, lambda, createStreamTransfer(stream));
  });
  // Marked for Lambda's runtime, which inspects the function itself.
  const { withServices } = call;
  return Object.assign(streamifyResponse(call), {
    withServices: (all: Services) => streamifyResponse(withServices(all)),
  });
}

/** Opens a function's services for one installation, and answers with them. */
interface OpenedLogic<C extends LoggingServices> extends Pick<ApiLogic<C>, 'run' | 'toErrorForm'> {
  open(): C | Promise<C>;
}

/** Answers a request, and sends the answer by a transfer. @throws the error that breaks off an answer that has begun */
type Dispatch = <R>(event: APIGatewayProxyEvent, lambda: Context, transfer: Transfer<R>) => Promise<R>;

function makeDispatch<C extends LoggingServices>(
  logic: OpenedLogic<C>,
  { all, gate }: { readonly all: Services; readonly gate: Gate },
): Dispatch {
  const handle = middy(endingEarly)
    .use(answering({ ...logic, getRoute: gate.getRoute }))
    .use(negotiating())
    .handler(makeRespond(logic, { all, gate }));
  return (sent, lambda, transfer) => {
    const event = gate.readEvent?.(sent) ?? sent;
    const startedAtMs = performance.now();
    const exchange: Exchange = { transfer, trail: new AuditTrail(event, gate.getRoute) };
    const context: ApiContext = Object.assign(Object.create(lambda), { exchange });
    return runWithLogFields({ ...toInvocationFields(lambda), ...toLogFields(event) }, async () => {
      try {
        return await handle(event, context);
      } finally {
        // A streamed answer has reached the caller: they do not wait for the audit.
        const { trail, services, answer = { status: 500, body: '' } } = exchange;
        await gate.record(trail.listRecords(answer.status), all);
        const request = { event, answer, durationMs: performance.now() - startedAtMs };
        if (services !== undefined) await gate.logRequest?.(request, services);
      }
    });
  };
}

/** Admits the caller, and makes the answer. The result throws what either throws. */
function makeRespond<C extends LoggingServices>(
  { open, run }: OpenedLogic<C>,
  { all, gate }: { readonly all: Services; readonly gate: Gate },
) {
  return async (
    event: APIGatewayProxyEvent,
    context: ApiContext,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<Answer> => {
    const { exchange } = context;
    const { trail } = exchange;
    const services = await open();
    const access = await gate.admit(event, {
      ...{ all, services, signal, getRoute: gate.getRoute },
      onOpened(opened) {
        exchange.services = opened;
      },
      onIdentified(identity: Identity) {
        trail.identify(identity);
        // Replaces the header's user.
        addLogFields({ user: identity.user });
      },
    });
    const audit = trail.note.bind(trail);
    const request = createRequest(event, { signal, access: trail.begin(access), audit });
    const own = (isConditional = true) => run(isConditional ? request : dropTag(request), services);
    const getRemainingMs = () => context.getRemainingTimeInMillis();
    const response =
      gate.forward === undefined || exchange.services === undefined
        ? await own()
        : await gate.forward({
            ...{ event, request, all, opened: services, services: exchange.services },
            ...{ getRemainingMs, own },
          });
    return awaitFirstPiece(toAnswer(response));
  };
}

/** The request as if its caller had no answer to it yet. */
function dropTag(request: ApiRequest): ApiRequest {
  return {
    ...request,
    findHeader: (name) => (name === 'if-none-match' ? undefined : request.findHeader(name)),
  };
}
