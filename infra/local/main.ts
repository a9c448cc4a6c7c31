import { enableCompileCache } from 'node:module';
import path from 'node:path';
import { explainFailure, formatHelp } from '#infra/options.ts';
import { addProviders } from '#infra/provider-packages.ts';
import { keepFilesPrivate } from '#infra/tools/test-cluster/private-folder.ts';
import { readEnvironment } from '#platform/config.ts';
import { parseCliOptions, startProgram } from './cli-options.ts';
import { bypassProxiesOnLoopback } from './loopback-proxy.ts';

/** Where standard output really goes: everything else that is written to it ends on standard error. */
const printToStandardOutput = takeStandardOutput();

// Functions keep connections open for their next invocation, as in Lambda, where nothing closes them either.
process.exit(await main(process.argv.slice(2)).catch((error) => explainFailure(error, startProgram)));

/** Runs the command line. @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  const options = parseCliOptions(args, readEnvironment());
  if (options.help) {
    printToStandardOutput(`${formatHelp(startProgram)}\n`);
    return 0;
  }
  keepFilesPrivate();
  bypassProxiesOnLoopback();
  // Only the bundle has a folder of its own for it.
  if (import.meta.filename.endsWith('.js'))
    enableCompileCache(path.join(import.meta.dirname, '.compile-cache'));
  await addProviders(options.providers, import.meta.url);
  const { runUntilStopped } = await import('./foreground.ts');
  await runUntilStopped(options, printToStandardOutput);
  return 0;
}

/** Functions may log to standard output, as Lambda wants it; here it carries answers for other programs. */
function takeStandardOutput(): (text: string) => void {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return (text) => void write(text);
}
