import type { Logger } from '#core/logger.ts';

/** Variables of go-clouddriver that change nothing here, each with what is in its place. */
const unused: readonly { readonly variables: readonly string[]; readonly instead: string }[] = [
  {
    variables: ['DB_HOST', 'DB_NAME', 'DB_PASS', 'DB_USER'],
    instead: 'tasks, accounts and the cache are in the data directory, which --data-dir names',
  },
];

/** Says in the log which variables are set in vain. Their values, such as a password, are not told. */
export function tellOfUnusedVariables(
  environment: { readonly [name: string]: string | undefined },
  log: Pick<Logger, 'warn'>,
): void {
  for (const { variables, instead } of unused) {
    const given = variables.filter((variable) => environment[variable]);
    if (given.length > 0) log.warn('environment variables of no effect', { variables: given, instead });
  }
}
