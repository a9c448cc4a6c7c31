import { InvalidInputError } from '#core/errors.ts';
import { declarations } from '#providers/declarations.ts';

/** Checks that a route of providers with operations was called for one of them. @throws InvalidInputError for another provider. */
export function checkTaskProvider(cloudProvider: string): void {
  const names = declarations.flatMap(({ name, hasOperations }) => (hasOperations ? [name] : []));
  if (names.includes(cloudProvider)) return;
  throw new InvalidInputError(
    `Provider '${cloudProvider}' has no such task route; only ${names.join(', ')} has`,
  );
}
