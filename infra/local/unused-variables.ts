import type { Logger } from '#core/logger.ts';

/** Variables of go-clouddriver that change nothing here. */
const unused = ['DB_HOST', 'DB_NAME', 'DB_PASS', 'DB_USER'];

/** Says in the log which variables are set in vain. Their values, such as a password, are not told. */
export function tellOfUnusedVariables(
  environment: { readonly [name: string]: string | undefined },
  log: Pick<Logger, 'warn'>,
): void {
  const variables = unused.filter((variable) => environment[variable]);
  const instead = 'tasks, accounts and the cache are in the data directory, which --data-dir names';
  if (variables.length > 0) log.warn('environment variables of no effect', { variables, instead });
}
