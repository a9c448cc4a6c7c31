import { InvalidInputError } from '#core/errors.ts';
import { operationProviders } from '#providers/operation-providers.ts';

/** Checks that a route of providers with operations was called for one of them. @throws InvalidInputError for another provider. */
export function checkTaskProvider(cloudProvider: string): void {
  if (operationProviders.includes(cloudProvider)) return;
  throw new InvalidInputError(
    `Provider '${cloudProvider}' has no such task route; only ${operationProviders.join(', ')} has`,
  );
}
