import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { formatExamples } from '../help.ts';
import { parseText } from '../option-values.ts';
import { type CachingOptions, listCachingAgents } from './listing.ts';

/** Adds `caching`. */
export function addCachingCommand(program: Command, context: CliContext): void {
  program
    .command('caching')
    .description(
      'lists caching agents: how old what each caches is, how it learns of changes, and why it fails',
    )
    .option('--account <account>', 'of this account', parseText)
    .option('--failing', 'only those whose cache may be old')
    .addHelpText(
      'after',
      formatExamples('busdriver caching --account prod', 'busdriver caching --failing --output json'),
    )
    .action((options: CachingOptions, command: Command) => listCachingAgents(context, options, command));
}
