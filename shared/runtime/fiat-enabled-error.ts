import { InvalidInputError } from '../core/errors.ts';

/** Settings that rely on Fiat, which nobody would ask. */
export class FiatEnabledError extends InvalidInputError {
  override name = 'FiatEnabledError';
}
