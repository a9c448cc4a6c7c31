import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { formatExamples } from '../help.ts';
import { addValue, parseText } from '../option-values.ts';
import { type DoctorOptions, examine } from './doctor.ts';

/** Adds `doctor`. */
export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description(
      'looks for what is wrong: disk, settings, the Busdriver at --url, its accounts, clusters and AWS',
    )
    .option('--data-dir <dir>', 'the data directory of a Busdriver on this machine', parseText, '.busdriver')
    .option(
      '--config <file>',
      "Spinnaker's YAML, or a folder of it: is it read without errors (repeatable)",
      addValue,
    )
    .option('--profiles <names>', "Spring's profiles of --config, divided by commas", 'local')
    .option(
      '--kubeconfig <file>',
      'a kubeconfig: its cluster is called from here, for version, clock and rights',
    )
    .option('--context <context>', 'a context of it (default: the current one)', parseText)
    .option('--aws', 'call AWS: credentials, region and clock')
    .addHelpText(
      'after',
      formatExamples(
        'busdriver doctor',
        'busdriver doctor --config ~/.hal/default/staging --kubeconfig ~/.kube/config',
        'busdriver doctor --url https://clouddriver.example.com --aws',
      ),
    )
    .action(async (options: DoctorOptions, command: Command) => {
      process.exitCode = await examine(context, options, command);
    });
}
