import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSecretSource, type SecretSource } from '#platform/aws/identity/secret-source.ts';
import { closeServer, listenLocally } from '#test/support/network/local-server.ts';

const arn = 'arn:aws:secretsmanager:us-east-1:123456789012:secret:spinnaker-AbCdEf';

/** Answers as Secrets Manager does, by the version that is asked for. */
const server = createServer(async (request, response) => {
  const { status, body } = answer(request, JSON.parse(await text(request)));
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
});

let source: SecretSource;

function answer(
  request: IncomingMessage,
  input: { SecretId: string; VersionStage: string },
): { status: number; body: object } {
  const isKnown =
    request.headers['x-amz-target'] === 'secretsmanager.GetSecretValue' && input.SecretId === arn;
  if (!isKnown) return { status: 400, body: { __type: 'InvalidRequestException' } };
  if (input.VersionStage === 'AWSCURRENT')
    return { status: 200, body: { ARN: arn, SecretString: 'the text' } };
  return { status: 400, body: { __type: 'ResourceNotFoundException', message: 'no such version' } };
}

beforeAll(async () => {
  const port = await listenLocally(server);
  const client = new SecretsManagerClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  source = createSecretSource(client, arn);
});

afterAll(() => closeServer(server));

describe('a secret', () => {
  it('is read by version', async () => {
    expect(await source.find('AWSCURRENT')).toBe('the text');
  });

  it('that has no such version is not found', async () => {
    expect(await source.find('AWSPREVIOUS')).toBeUndefined();
  });

  it('that may not be read is a failure, not an absence', async () => {
    const other = createSecretSource(
      new SecretsManagerClient({
        endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        region: 'us-east-1',
        credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
        maxAttempts: 1,
      }),
      'another',
    );

    await expect(other.find('AWSCURRENT')).rejects.toThrow();
  });
});
