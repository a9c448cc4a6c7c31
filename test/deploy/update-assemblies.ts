import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Options } from '#test/infra/aws/stacks/synthesize.ts';
import { firstOptions, type OperatorSecrets, planSteps } from './option-steps.ts';
import { unpackAssembly } from './released-assembly.ts';

/** Folder of the assembly of an earlier release. */
export const releasedName = 'released';
/** Folder of the assembly with the same options and the present templates. */
export const currentName = 'current';

/** Folder of the assembly of which nothing is protected any more: that of the last step. */
export const unprotectedName = 'protectData';

/** The templates of the last release whose stacks imported each other's exports, with the options that the update begins with. */
const releasedFile = path.join(import.meta.dirname, '../fixtures/stacks/with-exports.json.br');

const run = promisify(execFile);

const program = path.join(import.meta.dirname, 'synthesize-main.ts');

/**
 * Writes the assemblies that an installation is updated through: of the earlier release, of the present one, and after each step, in a
 * folder of the option's name.
 *
 * @param others further assemblies to write
 * @returns how many there are
 * @throws Error when options are refused
 */
export async function writeUpdateAssemblies(
  folder: string,
  secrets: OperatorSecrets,
  others: { readonly [name: string]: Options },
): Promise<number> {
  const steps = planSteps(secrets).map(({ option, options }) => [option, options] as const);
  const choices = { [currentName]: firstOptions, ...Object.fromEntries(steps), ...others };
  const file = path.join(folder, 'choices.json');
  await writeFile(file, JSON.stringify(choices));
  // What it writes is told where it fails.
  await run(process.execPath, [program, folder, file], { maxBuffer: 64 << 20 });
  const current = path.join(folder, currentName);
  await unpackAssembly(releasedFile, { current, folder: path.join(folder, releasedName) });
  return Object.keys(choices).length + 1;
}
