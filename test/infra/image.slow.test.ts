import { describe, expect, test } from 'vitest';
import { hostProgram } from '#infra/kubernetes/cli-options.ts';
import { startProgram } from '#infra/local/cli-options.ts';
import { agentNodeOptions, memorySettings, nodeOptions } from '#infra/local/memory-settings.ts';
import { formatHelp } from '#infra/options.ts';
import { buildAndAskForHelp, readImageRecipe } from '#test/support/run/image-recipe.ts';

const images = [
  {
    folder: 'infra/kubernetes',
    bundle: 'dist/host',
    options: nodeOptions,
    help: `${formatHelp(hostProgram)}\n`,
  },
  {
    folder: 'infra/kubernetes',
    bundle: 'dist/local',
    options: nodeOptions,
    help: `${formatHelp(startProgram)}\n`,
  },
  {
    folder: 'infra/agent',
    bundle: 'dist/agent',
    options: agentNodeOptions,
    help: expect.stringContaining('Usage: node dist/agent/main.js --config FILE'),
  },
];

describe.each(images)('the image of $folder with $bundle', async ({ folder, bundle, options, help }) => {
  const recipe = await readImageRecipe(folder);

  test('copies what is enough to build what it runs, which needs Node alone', async () => {
    expect(await buildAndAskForHelp(recipe, bundle)).toEqual({ stdout: help, stderr: '' });
  });

  test('is run by the memory settings of its program, and not as root', () => {
    for (const [name, value] of Object.entries(memorySettings)) {
      expect(recipe.text).toContain(` ${name}=${value}`);
    }
    for (const option of options) expect(recipe.text).toContain(`"${option}"`);
    expect(recipe.text).toMatch(/^USER 1000:1000$/m);
  });

  test('copies what is sent to the builder', () => {
    for (const each of recipe.copies) expect(recipe.ignored).toContain(`!${each}`);
  });
});
