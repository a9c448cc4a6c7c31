import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { parseMoniker } from '#core/frigga.ts';
import { routes } from '#functions/routes.ts';
import { createRequest, toLogFields } from '#http/api-request.ts';
import { parseTarget, toProxyEvent } from '#infra/server/front-door/http-event.ts';
import { findRefusal } from '#infra/server/front-door/loopback-guard.ts';
import { RouteTable } from '#infra/server/front-door/route-table.ts';
import { labelSelectorsField } from '#providers/kubernetes/manifest/selectors.ts';
import {
  booleanField,
  enumField,
  intField,
  nameListField,
  parseWith,
  requireField,
  stringField,
} from '#settings/coerce.ts';
import { isSecretReference, parseSecretReference } from '#settings/secret-reference.ts';
import { resolvePlaceholders } from '#settings/spring-placeholders.ts';
import { matchesProfiles } from '#settings/spring-profiles.ts';
import { fullAccess } from '#test/support/system/request-access.ts';
import { parseMaxAgeMs } from '#views/freshness-headers.ts';
import { parseListedServerGroups } from '#views/http/server-group-request.ts';
import { parseSearchRequest } from '#views/search-request.ts';

/**
 * Everything that reads text from outside, each fed a megabyte of what is worst for it: it may refuse, with an error of its own, but
 * neither take long nor exhaust the stack. A new pattern or loop over outside text gets a row.
 */
const readers: { readonly [name: string]: (text: string) => unknown } = {
  'the target of a request': (text) => parseTarget(`/${text}`),
  'the query of a request': (text) => parseTarget(`/health?${text}`),
  'a search for a route': (text) => new RouteTable(routes).find('GET', text.split('/')),
  'the header Host': (text) =>
    findRefusal({ headers: { host: text }, rawHeaders: [text, text] } as IncomingMessage),
  'the header Origin': (text) =>
    findRefusal({ headers: { host: 'a', origin: text }, rawHeaders: [] as string[] } as IncomingMessage),
  'the event of a request': (text) => toProxyEvent(makeParts(text)),
  'headers of the caller': (text) => request({ headers: { 'X-Spinnaker-User': text } }),
  'fields of the log': (text) => toLogFields(makeEvent({ headers: { 'x-spinnaker-user': text } })),
  'the header Cache-Control': parseMaxAgeMs,
  'a name of the path': (text) => request({ pathParameters: { name: text } }).getParameter('name'),
  'a list of a query': (text) => request({ queryStringParameters: { a: text } }).findQueryList('a'),
  'a list that is given often': (text) =>
    request({ multiValueQueryStringParameters: { a: text.split(',') } }).findQueryList('a'),
  'a flag of a query': (text) => request({ queryStringParameters: { a: text } }).getFlag('a', true),
  'a name of a query': (text) => request({ queryStringParameters: { [text]: 'a' } }),
  'a body': (text) => request({ body: text }).parseJson(),
  'ids of server groups': (text) =>
    parseListedServerGroups(request({ queryStringParameters: { ids: text } })),
  'a search': (text) =>
    parseSearchRequest(request({ queryStringParameters: { q: text, type: 'x', pageSize: text } })),
  'a whole number': (text) => parseWith(requireField(intField()), text, 'op'),
  'a flag': (text) => parseWith(requireField(booleanField()), text, 'op'),
  'one of some words': (text) => parseWith(requireField(enumField(['a'])), text, 'op'),
  'a text': (text) => parseWith(requireField(stringField()), text, 'op'),
  'a list of names': (text) => parseWith(requireField(nameListField()), text, 'op'),
  'a label of a selector': (text) =>
    parseWith(labelSelectorsField(), { selectors: [{ kind: 'EQUALS', key: text, values: [text] }] }, 'op'),
  'a name of a server group': parseMoniker,
  'a reference to a secret': (text) =>
    isSecretReference(`encrypted:secrets-manager!${text}`) &&
    parseSecretReference(`encrypted:secrets-manager!r:${text}!s:${text}`, 'a'),
  'placeholders of settings': (text) => resolvePlaceholders({ a: text }, {}, () => undefined),
  'an expression of profiles': (text) => matchesProfiles([text], ['a']),
};

const length = 1_000_000;

/** A pattern, repeated up to a megabyte, and what ends it so that it fits after all, or does not. */
const worst: readonly (readonly [pattern: string, end: string])[] = [
  ['a', ''],
  ['a', '\n'],
  [' ', 'x'],
  ['-v0', '-'],
  ['-', '!'],
  ['.', '/'],
  ['a.', '['],
  ['[', ''],
  ['[0]', '['],
  ['{"a":', ''],
  ['"\\', '"'],
  ['%', ''],
  ['%41', ''],
  ['/', ''],
  ['a/', '..'],
  [':1', 'x'],
  ['a:', ''],
  ['a,', ''],
  [',', ''],
  ['a=&', ''],
  ['&', '='],
  ['max-age=1,', ''],
  ['max-age ', '=1'],
  ['no-cache,', ''],
  ['0', 'x'],
  ['${', ''],
  ['${a:', '}'],
  [`$\{a}`, ''],
  ['!', 'a'],
  ['(', ')'],
  ['a&', '|'],
  ['arn:', ''],
  ['\u0000', ''],
  ['\ud800', ''],
];

/** Milliseconds of the processor: linear work takes a part of a second, quadratic work minutes. */
const timeMax = 5_000;

function measure(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe.each(Object.entries(readers))('%s', (_, read) => {
  it.each(worst)('of many %j before %j takes no time', (pattern, end) => {
    const text = pattern.repeat(length / pattern.length) + end;
    let error: unknown;
    const tookMs = measure(() => {
      error = catchError(() => read(text));
    });
    expect(tookMs).toBeLessThan(timeMax);
    expect(error).not.toBeInstanceOf(RangeError);
    expect(error).not.toBeInstanceOf(TypeError);
  });

  it('of pairs that close each other takes no time', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['${', '}'],
      ['(', ')'],
      ['${a:', '}'],
    ] as const) {
      const count = length / (open.length + close.length);
      const text = open.repeat(count) + close.repeat(count);
      let error: unknown;
      const tookMs = measure(() => {
        error = catchError(() => read(text));
      });
      expect(tookMs).toBeLessThan(timeMax);
      expect(error).not.toBeInstanceOf(RangeError);
    }
  });
});

function catchError(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

function makeEvent(parts: object): APIGatewayProxyEvent {
  const none = { headers: {}, pathParameters: null, queryStringParameters: null, body: null };
  return { ...none, ...parts } as APIGatewayProxyEvent;
}

function request(parts: object) {
  return createRequest(makeEvent(parts), {
    signal: AbortSignal.abort(),
    access: fullAccess,
    audit: () => undefined,
  });
}

function makeParts(text: string): Parameters<typeof toProxyEvent>[0] {
  const [route] = routes;
  if (route === undefined) throw new Error('there is no route');
  const rawHeaders = text.split(/[,:&/=]/, 50_000).flatMap((value) => ['x', value, value.slice(0, 20), 'y']);
  const incoming = { rawHeaders, headers: {}, socket: {}, httpVersion: '1.1' } as unknown as IncomingMessage;
  const target = { path: text, segments: [text], query: new URLSearchParams(text.slice(0, 2_000)) };
  const body = Buffer.from(text);
  return { request: incoming, target, route, pathParameters: {}, body, requestId: 'r', receivedAtMs: 0 };
}
