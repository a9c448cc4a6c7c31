import { createVerify, generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FailedOperationError, InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { openGcsSources } from '#providers/artifacts/gcs.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { createLocalOptions, expectRejected, fetchText } from './options.ts';
import { startOrigin } from './origin.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = {
  type: 'service_account',
  client_email: 'reader@planted.iam.gserviceaccount.com',
  private_key_id: 'k1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};
const json = JSON.stringify(key);

const user = {
  ...{ type: 'authorized_user', client_id: 'c1', client_secret: 'planted-c', refresh_token: 'planted-r' },
};

const audience =
  '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/aws/providers/busdriver';
const federated = {
  ...{ type: 'external_account', audience, credential_source: { environment_id: 'aws1' } },
  subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
};

function open(account: JsonObject, more: Partial<ProviderContext> = {}) {
  return openGcsSources(createLocalOptions('gcs', { accounts: [{ name: 'bucket', ...account }] }, more));
}

function fetchObject(account: JsonObject, reference: string, more?: Partial<ProviderContext>) {
  return fetchText(open(account, more), { type: 'gcs/object', reference });
}

/** The token that the key signed; undefined for any other. */
function readToken(authorization: string | undefined) {
  const [head = '', claims = '', signature = ''] = authorization?.replace('Bearer ', '').split('.') ?? [];
  const verify = createVerify('sha256').update(`${head}.${claims}`);
  if (!verify.verify(publicKey, signature, 'base64url')) return undefined;
  return [head, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
}

/** A server of Google's JSON API that refuses whom it does not know, and answers the path of what it is asked for. */
function startGcs() {
  return startOrigin((request, response) => {
    if (readToken(request.headers.authorization) === undefined) response.writeHead(401).end();
    else if (request.url?.includes('missing')) response.writeHead(404).end();
    else response.end(request.url);
  });
}

const strays = 'json: its token_uri, token_url or service_account_impersonation_url is none of Google';

describe('the accounts of artifacts.gcs', () => {
  test.each([
    [{ json: '{"planted' }, 'json: expected the JSON'],
    [{ json: JSON.stringify({ ...key, client_email: '' }) }, 'json: expected the JSON'],
    [{ json: JSON.stringify({ ...key, private_key: 'planted' }) }, 'json: expected the JSON'],
    [{ json, jsonPath: '/planted' }, 'expected one of json, jsonPath and workloadIdentity'],
    [{ json: JSON.stringify({ ...federated, audience: 'planted' }) }, 'json: expected the JSON'],
    [{ json: JSON.stringify({ ...federated, token_url: 'ftp://planted' }) }, 'json: expected the JSON'],
    [
      { json: JSON.stringify({ ...federated, subject_token_type: 'urn:planted' }) },
      'json: expected the JSON',
    ],
    [{ json: JSON.stringify({ ...user, refresh_token: 7 }) }, 'json: expected the JSON'],
    [{ workloadIdentity: { audience: 'planted' } }, 'workloadIdentity: expected audience'],
    [
      { workloadIdentity: { audience, serviceAccount: 'planted/x@y' } },
      'workloadIdentity: expected audience',
    ],
    [{ jsonPath: '/nowhere/planted' }, 'jsonPath: the file cannot be read'],
    [{ json: JSON.stringify({ ...user, token_uri: 'https://planted.example.com/token' }) }, strays],
    [{ json: JSON.stringify({ ...user, token_uri: 'http://oauth2.googleapis.com/token' }) }, strays],
    [{ json: JSON.stringify({ ...user, token_uri: 'https://plantedgoogleapis.com/token' }) }, strays],
    [
      { json: JSON.stringify({ ...federated, token_url: 'https://googleapis.com.planted.example.com/' }) },
      strays,
    ],
    [
      {
        json: JSON.stringify({
          ...federated,
          service_account_impersonation_url: 'https://planted.example.com/',
        }),
      },
      strays,
    ],
    [{ json, credentialOrigins: ['https://planted.example.com'] }, 'credentialOrigins: not for this kind'],
  ])('are rejected with what cannot be used', (account, reason) => {
    expectRejected(open(account), reason);
  });

  test.each<JsonObject>([
    { json: JSON.stringify({ ...user, token_uri: 'https://oauth2.googleapis.com/token' }) },
    { json: JSON.stringify({ ...federated, token_url: 'https://sts.eu-west1.rep.googleapis.com/v1/token' }) },
    {
      apiEndpoint: 'https://storage.apis-s3ns.fr',
      json: JSON.stringify({ ...user, token_uri: 'https://oauth2.apis-s3ns.fr/token' }),
    },
    {
      apiEndpoint: 'http://127.0.0.1:4443',
      json: JSON.stringify({ ...user, token_uri: 'http://127.0.0.1:4443/token' }),
    },
    { workloadIdentity: { audience, serviceAccount: 'reader@shop.iam.gserviceaccount.com' } },
  ])('have their tokens from Google, or from where their objects are: %j', (account) => {
    expect(open(account).rejectedAccounts).toEqual([]);
  });

  test('are rejected for files when deployed', () => {
    expect(open({ jsonPath: '/x' }, { placement: 'deployed' }).rejectedAccounts[0]?.reason).toContain(
      'jsonPath: deployed functions read no files, give the value itself',
    );
  });
});

describe('fetching gcs/object', () => {
  test.each([
    ['gs://configs/web.yml', '/storage/v1/b/configs/o/web.yml?alt=media'],
    ['configs/a b/ü?.yml', '/storage/v1/b/configs/o/a%20b%2F%C3%BC%3F.yml?alt=media'],
    ['gs://my_configs.x/a#b#17', '/storage/v1/b/my_configs.x/o/a%23b?alt=media&generation=17'],
    ['gs://configs/../x', '/storage/v1/b/configs/o/..%2Fx?alt=media'],
  ])('reads %s with a token that the key signed', async (reference, path) => {
    await using origin = await startGcs();
    expect(await fetchObject({ apiEndpoint: origin.url, json }, reference)).toBe(path);
    const issuedAtS = Date.UTC(2026, 0, 1) / 1000 - 60;
    expect(readToken(origin.requests[0]?.headers.authorization)).toEqual([
      { alg: 'RS256', typ: 'JWT', kid: 'k1' },
      {
        iss: key.client_email,
        sub: key.client_email,
        scope: 'https://www.googleapis.com/auth/devstorage.read_only',
        iat: issuedAtS,
        exp: issuedAtS + 3_540,
      },
    ]);
  });

  test('takes the key from a file, or from a secret that is read again where Google refuses it', async () => {
    await using dir = await makeTempDir();
    await using origin = await startGcs();
    const jsonPath = join(dir.path, 'key.json');
    await writeFile(jsonPath, JSON.stringify(key, null, 2));
    expect(await fetchObject({ apiEndpoint: origin.url, jsonPath }, 'gs://configs/a')).toContain('/o/a');

    const follow = async () => ({ text: json, versionId: '1', asOfMs: 0, readAgainAtMs: Number.MAX_VALUE });
    const secrets = { follow, read: async () => '', readRoles: async () => undefined };
    const account = { apiEndpoint: origin.url, json: 'encrypted:ssm!n:key' };
    expect(await fetchObject(account, 'gs://configs/b', { services: { secrets } })).toContain('/o/b');
    const stray = JSON.stringify({ ...user, token_uri: 'https://planted.example.com/token' });
    for (const text of ['planted', stray]) {
      const wrong = { ...secrets, follow: async () => ({ ...(await follow()), text }) };
      const failure = await getFailure(
        fetchObject(account, 'gs://configs/b', { services: { secrets: wrong } }),
      );
      expect(failure).toBeInstanceOf(FailedOperationError);
      expect(String(failure)).toMatch(/json: (expected the JSON|its token_uri)/);
      expect(String(failure)).not.toContain('planted');
    }
  });

  test.each([
    ...['', 'gs://planted', 'gs:///planted', 'gs://configs/', 'gs://configs/..', 'gs://configs/x#planted'],
    ...['gs://pl@nted/x', 'https://planted.example.com/x', `gs://configs/${'x'.repeat(2_048)}`],
  ])('refuses the reference %j', async (reference) => {
    await using origin = await startGcs();
    const failure = await getFailure(fetchObject({ apiEndpoint: origin.url, json }, reference));
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(String(failure)).not.toContain('planted');
    expect(origin.connections).toBe(0);
  });

  test('tells what is missing', async () => {
    await using origin = await startGcs();
    const failure = await getFailure(fetchObject({ apiEndpoint: origin.url, json }, 'gs://configs/missing'));
    expect(failure).toBeInstanceOf(NotFoundError);
  });
});
