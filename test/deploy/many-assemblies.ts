import { copyFile, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { createApp, type Options } from '#test/infra/aws/stacks/synthesize.ts';

/** Where each app writes: code that is the same is bundled and written once. */
const workName = '.work';

/**
 * Writes an assembly of CDK for each choice of options, each into a folder of its name. One after the other in one process this
 * takes a tenth of what `cdk synth` takes for each; the code of functions lies there once, and is linked.
 *
 * @param folder an existing one
 * @throws ContextError for options that are refused
 */
export async function writeAssemblies(
  folder: string,
  choices: { readonly [name: string]: Options },
): Promise<void> {
  const work = path.join(folder, workName);
  for (const [name, options] of Object.entries(choices)) {
    createApp({ ...options, 'aws:cdk:bundling-stacks': ['**'] }, work).synth();
    await moveAssembly(work, path.join(folder, name));
  }
}

/** Leaves behind what stays the same, which is named after what is in it. */
async function moveAssembly(work: string, target: string): Promise<void> {
  await mkdir(target);
  for (const entry of await readdir(work, { withFileTypes: true })) {
    const { name } = entry;
    const file = path.join(work, name);
    if (entry.isDirectory()) {
      await symlink(file, path.join(target, name));
    } else {
      await copyFile(file, path.join(target, name));
      await rm(file);
    }
  }
}
