import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { AwaitedAnswers } from '#agents/services/awaited-answers.ts';
import { parseBoundedJson } from '#core/bounded-json.ts';
import { getErrorMessage, InvalidInputError, NotFoundError, VisibleError } from '#core/errors.ts';
import { isJsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Route } from '#functions/routes.ts';
import { parseError, toErrorHeaders } from '#http/error-body.ts';
import type { Handler } from '#infra/server/functions/invoker.ts';
import type { HintConnections } from '#infra/server/hints/hint-connections.ts';
import { systemClock } from '#platform/services/system.ts';
import type { UpstreamState } from '#upstream/services/upstream-state.ts';
import { operationResultSchema, operationSchema, toHint } from './agent-messages.ts';
import type { HostAccess } from './host-access.ts';
import type { Peers } from './peers/peers.ts';
import { messageTextMax, parseProtobufText, type TextMessage, type TextSchema } from './protobuf-text.ts';
import type { Readiness } from './readiness.ts';

/** What the routes of this home work with. */
export interface HostRoutesOptions {
  readonly access: HostAccess;
  readonly peers: Pick<Peers, 'list' | 'find' | 'state'>;
  readonly readiness: Pick<Readiness, 'isReady'>;
  readonly upstream: Pick<UpstreamState, 'health'>;
  /** Those of agents that end here. */
  readonly connections: Pick<HintConnections, 'deliver'>;
  /** The callers here that wait for agents' answers. */
  readonly awaited: Pick<AwaitedAnswers, 'settle'>;
  readonly log: Logger;
}

/** Routes that this home alone has, and what answers them. */
export interface HostRoutes {
  readonly routes: readonly Route[];
  /** Undefined for a module that is a function's. */
  findHandler(module: string): Handler | undefined;
}

/** What a route answers. */
interface HostAnswer {
  readonly status: number;
  readonly body: unknown;
}

type Answer = (event: APIGatewayProxyEvent) => Promise<HostAnswer>;

/** Bytes of a body: a message, with each of its characters escaped in JSON. */
const bodyBytesMax = 6 * messageTextMax + 1_024;

const bodyBounds = { depthMax: 4, valuesMax: 16 };

/** The routes of this home: replicas, the messages that they pass on to each other, and its health, which says how it knows of them. */
export function createHostRoutes(options: HostRoutesOptions): HostRoutes {
  const { access, peers, readiness, upstream, connections, awaited } = options;
  const listPeers: Answer = async (event) => {
    await access.admitOperator(event);
    return { status: 200, body: peers.list() };
  };
  const getPeer: Answer = async (event) => {
    await access.admitOperator(event);
    const id = event.pathParameters?.['id'] ?? '';
    const peer = peers.find(id);
    if (peer === undefined) throw new NotFoundError(`No clouddriver is named '${id}'`);
    return { status: 200, body: peer };
  };
  const takeOperation: Answer = async (event) => {
    await access.admitPeer(event);
    const operation = parseMessage(event, 'operation', operationSchema);
    if (connections.deliver(toHint(operation))) return { status: 202, body: {} };
    throw new NotFoundError('No agent of this account is connected here');
  };
  const takeResult: Answer = async (event) => {
    await access.admitPeer(event);
    const result = parseMessage(event, 'result', operationResultSchema);
    if (awaited.settle(result.id)) return { status: 200, body: {} };
    throw new NotFoundError('Nobody waits for this result here');
  };
  const getHealth: Answer = async () => ({
    status: 200,
    body: {
      status: 'UP',
      details: { peers: peers.state, ...(upstream.health && { upstream: upstream.health }) },
    },
  });
  const getReadiness: Answer = async () =>
    (await readiness.isReady())
      ? { status: 200, body: { status: 'UP' } }
      : { status: 503, body: { status: 'OUT_OF_SERVICE' } };
  return toHostRoutes(
    [
      ['GET', '/health', getHealth],
      ['GET', '/health/readiness', getReadiness],
      ['GET', '/armory/clouddrivers', listPeers],
      ['GET', '/armory/clouddrivers/{id}', getPeer],
      ['POST', '/armory/agent/operations', takeOperation],
      ['POST', '/armory/agent/operationresults', takeResult],
    ],
    options.log,
  );
}

function toHostRoutes(
  table: readonly (readonly [Route['method'], string, Answer])[],
  log: Logger,
): HostRoutes {
  const answers = new Map(table.map(([method, path, answer]) => [`host ${method} ${path}`, answer]));
  return {
    routes: table.map(([method, path]) => ({
      ...{ method, path, module: `host ${method} ${path}` },
      ...{ reaches: 'cluster', timeoutSeconds: 10, access: 'anonymous' },
    })),
    findHandler(module) {
      const answer = answers.get(module);
      // The front door makes such events.
      return answer && ((event) => respond(event as APIGatewayProxyEvent, answer, log));
    },
  };
}

/** An answer as API Gateway takes it. */
async function respond(event: APIGatewayProxyEvent, answer: Answer, log: Logger): Promise<object> {
  const { status, body } = await answer(event).catch((error: unknown) => {
    if (!(error instanceof VisibleError)) log.error('a route of this home failed', { error });
    const errorBody = parseError(error, systemClock.now());
    return { status: errorBody.status, body: errorBody };
  });
  const headers = { 'Content-Type': 'application/json;charset=UTF-8', 'X-Content-Type-Options': 'nosniff' };
  return {
    statusCode: status,
    headers: { ...headers, ...toErrorHeaders(status) },
    body: JSON.stringify(body),
  };
}

/** Reads `{"operation": "<text form>"}`. @throws InvalidInputError that names the field and what was expected */
function parseMessage<S extends TextSchema>(
  { body, isBase64Encoded }: APIGatewayProxyEvent,
  field: string,
  schema: S,
): TextMessage<S> {
  const text = isBase64Encoded ? '' : (body ?? '');
  if (text.length > bodyBytesMax)
    throw new InvalidInputError(`the body must be at most ${bodyBytesMax} characters long`);
  const message = findMember(text, field);
  if (message === undefined)
    throw new InvalidInputError(
      `the body must be a JSON object whose '${field}' is the text form of a message`,
    );
  try {
    return parseProtobufText(schema, message);
  } catch (error) {
    throw new InvalidInputError(`'${field}' must be the text form of a message: ${getErrorMessage(error)}`);
  }
}

function findMember(text: string, field: string): string | undefined {
  try {
    const { value } = parseBoundedJson(text, bodyBounds);
    const member = isJsonObject(value) ? value[field] : undefined;
    return typeof member === 'string' ? member : undefined;
  } catch {
    return undefined;
  }
}
