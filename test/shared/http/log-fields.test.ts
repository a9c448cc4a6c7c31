import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { toLogFields } from '#http/api-request.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';

it.each([
  [`00-${trace}-${span}-01`, true],
  [`00-${trace}-${span}-01-more`, false],
  [`01-${trace}-${span}-01`, false],
  [`00-${trace.toUpperCase()}-${span}-01`, false],
  [`00-${'0'.repeat(32)}-${span}-01`, false],
  [`00-${trace}-${'0'.repeat(16)}-01`, false],
  ['anything\n', false],
])('a traceparent is carried on as W3C writes it, any other is dropped: %j', (traceparent, isTaken) => {
  const event = { headers: { traceparent } } as unknown as APIGatewayProxyEvent;
  expect(toLogFields(event)).toEqual(isTaken ? { traceparent } : {});
});
