import { expect, test } from 'vitest';
import { readAnswerSchema } from '#agents/protocol/messages.ts';
import { fromReadFailure, toReadFailure } from '#agents/protocol/read-failure.ts';
import {
  AccessDeniedError,
  AccountDownError,
  FailedOperationError,
  InvalidInputError,
  NotFoundError,
  UnavailableError,
  UnreachableError,
} from '#core/errors.ts';
import { parseError } from '#http/error-body.ts';
import { KubernetesApiError } from '#providers/kubernetes/api/errors.ts';

const errors = [
  new NotFoundError('nothing'),
  new AccessDeniedError('not yours'),
  new AccountDownError('down'),
  new UnreachableError('away'),
  new UnavailableError('later'),
  new FailedOperationError('failed'),
  new InvalidInputError(['first', 'second']),
];

test.each(errors.map((error) => [error.name, error] as const))(
  'a user is told of %s what a direct read tells',
  (_name, error) => {
    const told: unknown = JSON.parse(JSON.stringify(toReadFailure(error)));
    const failure = readAnswerSchema.parse({ take: 1, part: 0, last: true, data: '', failure: told }).failure;
    const again = failure && fromReadFailure(failure);
    expect(again).toBeInstanceOf(error.constructor);
    expect(parseError(again, 0)).toEqual(parseError(error, 0));
  },
);

test('of a defect nothing is told, and of what is not known no more than that it failed', () => {
  const told = toReadFailure(new TypeError('a secret'));
  expect(JSON.stringify(told)).not.toContain('secret');
  expect(parseError(fromReadFailure(told), 0)).toMatchObject({ status: 500 });
  const failed = toReadFailure(new KubernetesApiError(418, 'Teapot', 'teapot'));
  expect(fromReadFailure(failed)).toBeInstanceOf(FailedOperationError);
});

test('an error of any size fits into an answer', () => {
  const large = new InvalidInputError(Array.from({ length: 200 }, () => 'x'.repeat(5_000)));
  const answer = { take: 1, part: 0, last: true, data: '', failure: toReadFailure(large) };
  expect(readAnswerSchema.safeParse(answer).success).toBe(true);
});
