import { type ExecFileException, execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from '#test/architecture/source-files.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { getOptions } from './assembly/option-sets.ts';
import type { Options } from './stacks/synthesize.ts';

const run = promisify(execFile);

/** Runs the app as the command line of CDK does; without network, for nothing in it could use one. */
async function runApp(
  options: Options,
  outdir: string,
  destination: NodeJS.ProcessEnv = {},
): Promise<{ code: number; errors: string }> {
  const context = { 'aws:cdk:bundling-stacks': [], ...options };
  const env = {
    PATH: '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    ...destination,
    // synth-nag asks CDK's own rules.
    CDK_VALIDATION: 'false',
    CDK_OUTDIR: outdir,
    CDK_CONTEXT_JSON: JSON.stringify(context),
  };
  try {
    const { stderr } = await run(process.execPath, ['infra/aws/app.ts'], { cwd: root, env });
    return { code: 0, errors: stderr };
  } catch (error) {
    const { code, stderr = '' } = error as ExecFileException;
    return { code: Number(code), errors: stderr };
  }
}

function isTemplate(file: string): boolean {
  return file.endsWith('.template.json');
}

describe('the app', () => {
  const options = getOptions('private, with a name');

  it('writes the templates of every stack', async () => {
    await using dir = await makeTempDir();

    const { code, errors } = await runApp(options, dir.path, { CDK_DEFAULT_REGION: 'us-east-1' });

    expect(errors).not.toContain('Error');
    expect(code).toBe(0);
    const templates = (await readdir(dir.path)).filter(isTemplate);
    expect(templates).toContain('busdriver-dev-api.template.json');
  });

  // What else is refused, context-options.test.ts has.
  it('refuses what does not suit the region into which CDK deploys, in words and without a trace', async () => {
    await using dir = await makeTempDir();

    const { code, errors } = await runApp(options, dir.path, { CDK_DEFAULT_REGION: 'eu-west-1' });

    expect(code).toBe(1);
    expect(errors).toContain('certificateArn: expected an ARN of eu-west-1, where the stacks go');
    expect(errors).not.toContain('    at ');
    expect((await readdir(dir.path)).filter(isTemplate)).toEqual([]);
  });
});
