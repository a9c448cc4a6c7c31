import { InvalidInputError } from '#core/errors.ts';
import type { ApiRequest } from './api-request.ts';

/** A whole number in a query. @throws InvalidInputError naming the parameter and its bounds */
export function getNumber(
  request: Pick<ApiRequest, 'findQuery'>,
  name: string,
  { min, max, otherwise }: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  const text = request.findQuery(name);
  if (text === undefined || text === '') return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidInputError(`Query parameter '${name}' must be a whole number from ${min} to ${max}`);
}
