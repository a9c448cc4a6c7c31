import { CommanderError } from 'commander';
import { getErrorMessage, VisibleError } from '#core/errors.ts';
import { readEnvironment } from '#platform/config.ts';
import { CliError } from './cli-error.ts';
import { buildProgram } from './program.ts';
import { Terminal } from './terminal.ts';

const terminal = new Terminal();

// The reader of the output may have read enough: `busdriver accounts list | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await buildProgram({ terminal, environment: readEnvironment() }).parseAsync();
} catch (error) {
  process.exitCode = tellError(error);
}

/** Tells what went wrong and what to do. @returns the exit code */
function tellError(error: unknown): number {
  // It has been printed, with the help that it is about.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  // A defect, with all that may show whose.
  if (!(error instanceof CliError || error instanceof VisibleError)) throw error;
  terminal.tell(`${terminal.styleTold('red', 'error:')} ${getErrorMessage(error)}`);
  if (!(error instanceof CliError)) return 1;
  if (error.next !== undefined) terminal.tell(`Next: ${error.next}`);
  return error.exitCode;
}
