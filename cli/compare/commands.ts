import { type Command, InvalidArgumentError } from 'commander';
import type { CliContext } from '../context.ts';
import { formatExamples } from '../help.ts';
import { parseText, parseUrl } from '../option-values.ts';
import { type ComparisonOptions, compareSides } from './comparison.ts';

/** Adds `compare`. */
export function addCompareCommand(program: Command, context: CliContext): void {
  program
    .command('compare')
    .description(
      'compares what Busdriver and another Clouddriver answer about an account, as Spinnaker asks it',
    )
    .argument('<account>', 'the name of the account on both sides', parseText)
    .requiredOption('--with <url>', 'where the other Clouddriver answers', parseUrl)
    .option(
      '--requests <file>',
      'reads of this file instead, a path each line, as in an access log',
      parseText,
    )
    .option(
      '--objects <number>',
      'at most so many objects of each list one by one, up to 1000',
      parseCount,
      '10',
    )
    .addHelpText(
      'after',
      [
        formatExamples(
          'busdriver compare prod --with http://spin-clouddriver:7002',
          'busdriver compare prod --with http://spin-clouddriver:7002 --requests reads.txt --output json',
        ),
        '',
        'Exit codes: 0 all is the same, but for known differences; 1 something differs, or one side fails.',
      ].join('\n'),
    )
    .action(async (account: string, options: ComparisonOptions, command: Command) => {
      process.exitCode = await compareSides(context, { account, ...options }, command);
    });
}

function parseCount(text: string): string {
  if (/^\d{1,4}$/.test(text) && Number(text) <= 1_000) return text;
  throw new InvalidArgumentError('Expected a number, 0 to 1000.');
}
