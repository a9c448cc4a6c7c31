import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { FailedOperationError, InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { createAws } from '#platform/aws/identity/aws-access.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { HostServices } from '#provider-kit/host-services.ts';
import { openS3Sources } from '#providers/artifacts/s3.ts';
import { getS3Endpoint } from '#providers/artifacts/s3-requests.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLocalOptions, createTestClock, expectRejected, fetchText } from './options.ts';
import { startOrigin } from './origin.ts';

const key = { awsAccessKeyId: 'AKIDEXAMPLE', awsSecretAccessKey: 'wJalrXUtnFEMI/planted' };
const own = { accessKeyId: 'ASIAOWN', secretAccessKey: 'own-planted', sessionToken: 'session-planted' };

/** S3 as the process knows it, which has credentials of its own and may assume roles. */
function createServices(environment: Readonly<Record<string, string>> = {}, assumed: unknown[] = []) {
  const aws = createAws({ clock: createTestClock(), environment });
  const credentials = (identity?: object) => async () => {
    assumed.push(identity);
    return own;
  };
  return { openAws: async () => ({ ...aws, credentials }) } satisfies HostServices;
}

function open(account: JsonObject, services: HostServices = createServices()) {
  const accounts = [{ name: 'bucket', ...account }];
  return openS3Sources(createLocalOptions('s3', { accounts }, { services }));
}

function fetchObject(account: JsonObject, artifact: Artifact, services?: HostServices) {
  return fetchText(open(account, services), { type: 's3/object', ...artifact });
}

function hmac(secret: string | Buffer, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The signature that a request must have by "Signature Version 4 signing process" of AWS. */
function signRequest({ url = '', headers }: IncomingMessage, secret: string, region: string): string {
  const [, names = ''] = /SignedHeaders=([^,]*)/.exec(headers.authorization ?? '') ?? [];
  const signed = names.split(';').map((name) => `${name}:${headers[name]}\n`);
  const [path = '', query = ''] = url.split('?');
  const canonical = ['GET', path, query, signed.join(''), names, headers['x-amz-content-sha256']].join('\n');
  const time = String(headers['x-amz-date']);
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const signingKey = scope.reduce<string | Buffer>(
    (secretKey, part) => hmac(secretKey, part),
    `AWS4${secret}`,
  );
  const toSign = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
  return hmac(signingKey as Buffer, toSign).toString('hex');
}

/** A server of S3's protocol that refuses whom it does not know, and answers the path of what it is asked for. */
function startS3(secret: string, region: string) {
  return startOrigin((request, response) => {
    const signature = `Signature=${signRequest(request, secret, region)}`;
    if (!request.headers.authorization?.endsWith(signature)) response.writeHead(403).end();
    else if (request.url?.includes('missing')) response.writeHead(404).end('<Code>NoSuchKey</Code>');
    else response.end(`object ${request.url}`);
  });
}

test.each([
  [{ awsAccessKeyId: 'a' }, 'expected both awsAccessKeyId and awsSecretAccessKey, or neither'],
  [{ ...key, roleArn: 'arn:aws:iam::123456789012:role/r' }, 'roleArn: not with awsAccessKeyId'],
  [{ apiEndpoint: 'planted' }, 'apiEndpoint: expected an http or https URL'],
  [{ apiEndpoint: 'https://minio.example.com/planted' }, 'apiEndpoint: expected a URL without a path'],
  [
    { apiEndpoint: 'https://minio.example.com', roleArn: 'arn:aws:iam::123456789012:role/r' },
    "roleArn: not with an apiEndpoint that is not Amazon's",
  ],
  [{ signerOverride: 'S3SignerType' }, 'signerOverride: expected AWSS3V4SignerType'],
  [{ credentialOrigins: ['https://a.example.com'] }, 'credentialOrigins: not for this kind'],
])('the accounts of artifacts.s3 are rejected with %j', (account, reason) => {
  expectRejected(open(account), reason);
});

describe('fetching s3/object', () => {
  test.each([
    [{ reference: 's3://configs/web.yml' }, '/configs/web.yml'],
    [{ reference: 'configs/web.yml' }, '/configs/web.yml'],
    [
      { reference: 's3://my.configs/a b/ü+~*(1)?#&=.yml' },
      '/my.configs/a%20b/%C3%BC%2B~%2A%281%29%3F%23%26%3D.yml',
    ],
    [{ reference: 's3://configs//double//%2F' }, '/configs//double//%252F'],
    [{ reference: 's3://configs/web.yml', version: 'a/b+c' }, '/configs/web.yml?versionId=a%2Fb%2Bc'],
  ])('signs the request for %j', async (artifact, path) => {
    await using origin = await startS3(key.awsSecretAccessKey, 'eu-central-1');
    const account = { apiEndpoint: origin.url, apiRegion: 'eu-central-1', ...key };
    expect(await fetchObject(account, artifact)).toBe(`object ${path}`);
    expect(origin.requests[0]?.headers.authorization).toContain(
      'Credential=AKIDEXAMPLE/20260101/eu-central-1/s3/',
    );
  });

  test('as the process where the account has no key, or as a role of its', async () => {
    await using origin = await startS3(own.secretAccessKey, 'us-west-2');
    const assumed: unknown[] = [];
    const services = createServices({ AWS_ENDPOINT_URL_S3: origin.url }, assumed);
    const role = { roleArn: 'arn:aws:iam::123456789012:role/reader', externalId: 'busdriver' };
    for (const account of [{ region: 'us-west-2' }, { apiRegion: 'us-west-2', ...role }]) {
      expect(await fetchObject(account, { reference: 's3://configs/a' }, services)).toBe('object /configs/a');
    }
    expect(assumed).toEqual([{ region: 'us-west-2' }, { region: 'us-west-2', ...role }]);
    const tokens = origin.requests.map(({ headers }) => headers['x-amz-security-token']);
    expect(tokens).toEqual([own.sessionToken, own.sessionToken]);
  });

  test.each(['127.0.0.1', 'x.amazonaws.com.spinnaker', 'planted-amazonaws.com.local'])(
    'shows nothing of the process to %s, which is not Amazon',
    async (host) => {
      const assumed: unknown[] = [];
      await using origin = await startOrigin((_, response) => response.end('open'));
      const account = { apiEndpoint: `http://${host}:${origin.port}` };
      const reading = fetchObject(account, { reference: 's3://configs/a' }, createServices({}, assumed));
      if (host === '127.0.0.1') expect(await reading).toBe('open');
      else await reading.catch(() => undefined);
      expect(assumed).toEqual([]);
      expect(origin.requests.map(({ headers }) => headers.authorization)).toEqual(
        host === '127.0.0.1' ? [undefined] : [],
      );
    },
  );

  test.each([
    ['eu-central-1', 'https://s3.eu-central-1.amazonaws.com'],
    ['cn-north-1', 'https://s3.cn-north-1.amazonaws.com.cn'],
  ])('goes to Amazon in %s where no endpoint is named', async (region, url) => {
    expect(await getS3Endpoint(createServices().openAws, { url: undefined, region })).toEqual({
      region,
      url,
    });
  });

  test.each([
    ...['', 's3://planted', 's3://planted/', 's3:///planted', 'https://planted.example.com/x'],
    ...['s3://configs/../planted/x', 's3://configs/./planted', 's3://pl@nted/x'],
    `s3://configs/${'x'.repeat(2_048)}`,
  ])('refuses the reference %j', async (reference) => {
    await using origin = await startS3('x', 'us-east-1');
    const failure = await getFailure(fetchObject({ apiEndpoint: origin.url, ...key }, { reference }));
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(String(failure)).not.toContain('planted');
    expect(origin.connections).toBe(0);
  });

  test('tells what is missing from what is refused, and no secret', async () => {
    await using origin = await startS3(key.awsSecretAccessKey, 'us-east-1');
    const account = { apiEndpoint: origin.url, ...key };
    const fail = (given: JsonObject, reference: string) => fetchObject(given, { reference }).catch((e) => e);
    expect(await fail(account, 's3://configs/missing')).toBeInstanceOf(NotFoundError);
    const refused = await fail({ ...account, awsSecretAccessKey: 'planted' }, 's3://configs/a');
    expect(refused).toBeInstanceOf(FailedOperationError);
    expect(String(refused)).toContain('403 status code from 127.0.0.1');
    expect(String(refused)).not.toContain('planted');
  });

  test('names the account that has no credentials', async () => {
    const credentials = () => () => Promise.reject(new Error('no AWS credentials were found'));
    const openAws = async () => ({ ...(await createServices().openAws()), credentials });
    await expect(
      fetchObject({ region: 'eu-west-1' }, { reference: 's3://configs/a' }, { openAws }),
    ).rejects.toThrow("artifacts.s3 account 'bucket': no AWS credentials were found");
  });
});
