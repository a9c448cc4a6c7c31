import { type ExecFileException, execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from '../architecture/source-files.ts';
import { compileCache } from '../support/run/compile-cache.ts';
import { makeTempDir } from '../support/run/temp-dir.ts';
import { type Options, privateOptions } from './stacks/synthesize.ts';

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
    ...compileCache,
    ...destination,
    CDK_OUTDIR: outdir,
    CDK_CONTEXT_JSON: JSON.stringify(context),
  };
  try {
    const { stderr } = await run(process.execPath, ['infra/app.ts'], { cwd: root, env });
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
  it('writes the templates of every stack', async () => {
    await using dir = await makeTempDir();

    const { code, errors } = await runApp(privateOptions, dir.path);

    expect(errors).not.toContain('Error');
    expect(code).toBe(0);
    const templates = (await readdir(dir.path)).filter(isTemplate);
    expect(templates).toContain('busdriver-dev-api.template.json');
  });

  it.each([
    [{ CDK_DEFAULT_REGION: 'us-east-1' }, ''],
    [
      { CDK_DEFAULT_REGION: 'eu-west-1' },
      'certificateArn: expected an ARN of eu-west-1, where the stacks go',
    ],
    [{ CDK_DEFAULT_REGION: 'cn-north-1' }, 'certificateArn: expected arn:aws-cn:…'],
  ])('looks at the region into which CDK deploys: %j', async (destination, words) => {
    await using dir = await makeTempDir();
    const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0123';
    const options = { ...privateOptions, domainName: 'clouddriver.example.com', certificateArn };

    const { code, errors } = await runApp(options, dir.path, destination);

    expect(code).toBe(words === '' ? 0 : 1);
    expect(errors).toContain(words);
  });

  it.each([
    ['without options', {}, 'vpcEndpointIds: expected'],
    ['for everybody', { publicApi: 'true' }, 'publicApi: expected authentication=secret'],
    [
      'of which nobody said who may call it',
      { ...privateOptions, authentication: undefined },
      'authentication: expected secret, iam or none',
    ],
  ])('refuses to make an API %s, in words and without a trace', async (_what, options, words) => {
    await using dir = await makeTempDir();

    const { code, errors } = await runApp(options, dir.path);

    expect(code).toBe(1);
    expect(errors).toContain(words);
    expect(errors).not.toContain('    at ');
    expect((await readdir(dir.path)).filter(isTemplate)).toEqual([]);
  });
});
