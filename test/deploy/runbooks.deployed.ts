import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { beforeAll, describe, expect, it } from 'vitest';
import { localRegion } from '#infra/server/functions/local-aws.ts';
import { listAwsOperations, operationsFile } from '#test/infra/aws/runbooks/aws-commands.ts';
import { listCommands, readPages } from '#test/infra/aws/runbooks/page-commands.ts';
import { runRecorded } from '#test/infra/aws/runbooks/recording-shell.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { getDeployment } from '#test/support/system/deployed-system.ts';
import { openPythonEnvironment } from './python-environment.ts';

const run = promisify(execFile);
const program = path.join(import.meta.dirname, 'aws.py');
const deployment = getDeployment();

/** Commands about what is not there, or what the emulator does not have: they are checked, and not sent. */
const unsent = /replay|start-query|--follow/;

const all = listCommands(readPages()).filter(({ text }) => /\baws [a-z]/.test(text));
const commands = [...new Map(all.toReversed().map((one) => [one.text, one])).values()].reverse();
const [sent, checked] = [true, false].map((isSent) =>
  commands.filter(
    ({ place, text }) => (place.startsWith('docs/operate.md') && !unsent.test(text)) === isSent,
  ),
) as [typeof commands, typeof commands];

let python: string;

beforeAll(async () => {
  ({ python } = await openPythonEnvironment());
  const client = new SecretsManagerClient({ ...localClientOptions, endpoint: deployment.endpoint });
  // So that there is a version before.
  const SecretId = `${deployment.name}-config`;
  const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId }));
  for (const text of [`${SecretString}\n`, SecretString])
    await client.send(new PutSecretValueCommand({ SecretId, SecretString: text }));
  client.destroy();
});

/** Runs commands with an `aws` that checks each by the models of AWS, and sends those that only read. */
async function runWithModels(text: string, env: { readonly [name: string]: string }): Promise<void> {
  const aws = `exec ${python} ${program} "$@"`;
  await runRecorded(text.replaceAll('busdriver-prod', deployment.name), {
    programs: { aws, curl: 'echo Age: 412', jq: 'cat' },
    env: { ...engines, AWS_REGION: localRegion, ...env },
  });
}

/** What the page for one machine tells to set. */
const engines = {
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_ENDPOINT_URL_EVENTBRIDGE: 'http://127.0.0.1:2',
};

describe('the commands of pages', () => {
  it('are held against options that AWS has, everywhere', async () => {
    const { stdout } = await run(python, [program, '--describe', ...listAwsOperations()]);

    expect(JSON.parse(stdout)).toEqual(JSON.parse(await readFile(operationsFile, 'utf8')));
  });

  it.each(checked)('$place is what AWS takes', async ({ text }) => {
    await runWithModels(text, {});
  });

  it.each(sent)('$place is answered', async ({ text }) => {
    await runWithModels(text, { AWS_ENDPOINT_URL: deployment.endpoint });
  });

  it('are refused where they are wrong', async () => {
    const wrong = 'aws dynamodb describe-table --table-name busdriver-prod-nothing';
    await expect(runWithModels(wrong, { AWS_ENDPOINT_URL: deployment.endpoint })).rejects.toThrow();
    await expect(runWithModels('aws sqs get-queue-url --queue busdriver-prod-agents', {})).rejects.toThrow(
      /no option/,
    );
  });
});
