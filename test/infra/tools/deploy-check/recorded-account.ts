import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeServer, listenLocally } from '#test/support/network/local-server.ts';
import type { Answerer, Answers } from './answer-forms.ts';
import { recordedAnswers } from './recorded-answers.ts';

/** An account of AWS whose answers were written down, behind real HTTP. */
export interface RecordedAccount extends AsyncDisposable {
  /** What `AWS_ENDPOINT_URL` is to be. */
  readonly endpoint: string;
  /** The operations that were called, in order. */
  readonly calls: readonly string[];
}

/** Starts an account in which all is well, but for what `changes` say. */
export async function startRecordedAccount(changes: Answers = {}): Promise<RecordedAccount> {
  const answers: Answers = { ...recordedAnswers, ...changes };
  const calls: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const operation = findOperation(request, body);
      calls.push(operation);
      respond(response, { operation, body, answerer: answers[operation] });
    });
  });
  const port = await listenLocally(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    calls,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** `[method] path` of operations that speak REST. */
const restOperations: readonly (readonly [pattern: RegExp, operation: string])[] = [
  [/^\/2016-08-19\/account-settings/, 'lambda:GetAccountSettings'],
  [/^\/2019-09-30\/functions\/[^/]+\/concurrency/, 'lambda:GetFunctionConcurrency'],
  [/^\/account$/, 'apigateway:GetAccount'],
  [/^\/domainnames/, 'apigateway:GetDomainNames'],
];

/** Service and operation, as each protocol of AWS tells them. */
function findOperation({ headers, method, url = '' }: IncomingMessage, body: string): string {
  const [, service = ''] = /Credential=[^/]+\/\d+\/[^/]+\/([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  const target = headers['x-amz-target'];
  if (typeof target === 'string') return `${service}:${target.split('.').at(-1)}`;
  const action = new URLSearchParams(body).get('Action');
  if (action !== null) return `${service}:${action}`;
  const [, operation] = restOperations.find(([pattern]) => method === 'GET' && pattern.test(url)) ?? [];
  return operation ?? `${service}:${method} ${url}`;
}

interface Exchange {
  readonly operation: string;
  readonly body: string;
  readonly answerer: Answerer | undefined;
}

function respond(response: ServerResponse, { operation, body, answerer }: Exchange): void {
  if (answerer === 'hang') return;
  const answer = typeof answerer === 'function' ? answerer(body) : answerer;
  const { status = 200, body: text } = answer ?? {
    status: 501,
    body: `nobody wrote down what ${operation} answers`,
  };
  const type = text.startsWith('<') ? 'text/xml' : 'application/x-amz-json-1.1';
  response.writeHead(status, { 'content-type': type }).end(text);
}
