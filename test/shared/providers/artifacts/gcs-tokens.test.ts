import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AccessDeniedError, FailedOperationError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { createAws } from '#platform/aws/identity/aws-access.ts';
import { openGcsSources } from '#providers/artifacts/gcs.ts';
import { gcsTokenAnswerBytesMax, gcsTokenLengthMax } from '#providers/artifacts/gcs-tokens.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLocalOptions, createTestClock, neverAborted, readText } from './options.ts';
import { type Origin, startOrigin } from './origin.ts';

const audience =
  '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/aws/providers/busdriver';
const awsTokenType = 'urn:ietf:params:aws:token-type:aws4_request';
const readOnly = 'https://www.googleapis.com/auth/devstorage.read_only';

/** Google: objects for those who have its token of the moment, and the tokens. */
interface Google extends Origin {
  /** What was asked for tokens: path, authorization and body. */
  readonly asked: { path: string; authorization: string | undefined; body: string }[];
  /** Takes back the tokens that it gave so far. */
  revoke(): void;
}

/** @param answer what it answers who asks for tokens. Default: tokens for an hour. */
async function startGoogle(answer?: (path: string) => { status: number; body: string }): Promise<Google> {
  const asked: Google['asked'] = [];
  let valid = new Set<string>();

  function give(path: string) {
    if (answer) return answer(path);
    const token = `token-${asked.length}`;
    valid.add(`Bearer ${token}`);
    const expireTime = new Date(Date.UTC(2026, 0, 1, 1)).toISOString();
    const body = path.startsWith('/act')
      ? { accessToken: token, expireTime }
      : { access_token: token, expires_in: 3_600 };
    return { status: 200, body: JSON.stringify(body) };
  }

  async function giveToken(request: IncomingMessage) {
    const path = request.url ?? '';
    asked.push({ path, authorization: request.headers.authorization, body: await text(request) });
    return give(path);
  }

  const origin = await startOrigin((request, response) => {
    if (request.method === 'POST') {
      void giveToken(request).then(({ status, body }) => response.writeHead(status).end(body));
    } else if (valid.has(request.headers.authorization ?? '')) response.end('kind: Pod');
    else response.writeHead(401).end();
  });
  return Object.assign(origin, {
    asked,
    revoke() {
      valid = new Set();
    },
  });
}

const clock = createTestClock();
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'planted-s', sessionToken: 'session' };
const aws = { ...createAws({ clock, environment: {} }), credentials: () => async () => credentials };
const openAws = async () => aws;

function openAccount(account: JsonObject, timer = createTestClock()) {
  const accounts = [{ name: 'bucket', ...account }];
  const options = createLocalOptions('gcs', { accounts }, { clock: timer, services: { openAws } });
  const opened = openGcsSources(options);
  const [source] = opened.sources;
  if (source === undefined) throw new Error(opened.rejectedAccounts[0]?.reason);
  const read = async () => {
    const artifact = { type: 'gcs/object', reference: 'gs://configs/web.yml' };
    return readText((await source.fetch(artifact, neverAborted())).body);
  };
  return { read, [Symbol.asyncDispose]: () => source[Symbol.asyncDispose]() };
}

function userOf(google: Pick<Origin, 'url'>): JsonObject {
  const json = JSON.stringify({
    ...{ type: 'authorized_user', client_id: 'c1', client_secret: 'planted-c', refresh_token: 'planted-r' },
    token_uri: `${google.url}/token`,
  });
  return { apiEndpoint: google.url, json };
}

function workloadOf(google: Origin, impersonates = true): JsonObject {
  const json = JSON.stringify({
    ...{ type: 'external_account', audience, subject_token_type: awsTokenType },
    token_url: `${google.url}/exchange`,
    ...(impersonates && { service_account_impersonation_url: `${google.url}/act` }),
  });
  return { apiEndpoint: google.url, json };
}

describe('an authorized user', () => {
  test('reads with a token that Google gives once an hour, however many wait for it', async () => {
    const timer = createTestClock();
    await using google = await startGoogle();
    await using account = openAccount(userOf(google), timer);
    expect(await Promise.all([account.read(), account.read()])).toEqual(['kind: Pod', 'kind: Pod']);
    expect(google.asked).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(google.asked[0]?.body))).toEqual({
      grant_type: 'refresh_token',
      client_id: 'c1',
      client_secret: 'planted-c',
      refresh_token: 'planted-r',
    });
    timer.advance(54 * 60_000);
    await account.read();
    expect(google.asked).toHaveLength(1);
    timer.advance(2 * 60_000);
    await account.read();
    expect(google.asked).toHaveLength(2);
  });

  test('gets another token when Google refuses the one that it gave, but not a moment later', async () => {
    const timer = createTestClock();
    await using google = await startGoogle();
    await using account = openAccount(userOf(google), timer);
    await account.read();
    timer.advance(11_000);
    google.revoke();
    expect(await Promise.all([account.read(), account.read()])).toEqual(['kind: Pod', 'kind: Pod']);
    expect(google.asked).toHaveLength(2);
    google.revoke();
    await expect(account.read()).rejects.toThrow('401 status code');
    expect(google.asked).toHaveLength(2);
  });

  test.each([
    [400, '{"error":"invalid_grant planted"}', 'Received 400 status code from 127.0.0.1'],
    [404, 'planted', "account 'bucket': 127.0.0.1"],
    [302, '', 'Received 302 status code from 127.0.0.1'],
    [200, 'planted', 'gave no token'],
    [200, '{"access_token":"plan\\nted"}', 'gave no token'],
    [200, `{"access_token":"${'x'.repeat(gcsTokenLengthMax + 1)}"}`, 'gave no token'],
    [200, `{"access_token":"x","expires_in":"planted"}`, 'gave no token'],
    [200, `{"access_token":"x"}${' '.repeat(gcsTokenAnswerBytesMax)}`, 'gave no token'],
  ])('is told of an answer %i that holds no token, and nothing of it', async (status, body, complaint) => {
    await using google = await startGoogle(() => ({ status, body }));
    await using account = openAccount(userOf(google));
    const failure = await getFailure(account.read());
    expect(failure).toBeInstanceOf(FailedOperationError);
    expect(String(failure)).toContain(complaint);
    expect(String(failure)).not.toContain('planted');
  });

  test('tries again after a failure', async () => {
    let fails = true;
    const given = JSON.stringify({ access_token: 'token', expires_in: 3_600 });
    await using google = await startGoogle(() => ({ status: fails ? 400 : 200, body: given }));
    await using account = openAccount(userOf(google));
    await expect(account.read()).rejects.toThrow('400 status code');
    fails = false;
    // The token is one that nobody knows: what counts is that it is asked for, and sent.
    await expect(account.read()).rejects.toThrow('401 status code');
  });

  test('sends nothing to a host that the restrictions exclude', async () => {
    await using google = await startGoogle();
    await using account = openAccount({
      ...userOf({ url: 'https://oauth2.googleapis.com' }),
      apiEndpoint: google.url,
      urlRestrictions: { allowedDomains: ['127.0.0.1'] },
    });
    await expect(account.read()).rejects.toThrow(AccessDeniedError);
    expect(google.connections).toBe(0);
  });
});

describe('a workload of AWS', () => {
  beforeEach(() => void vi.stubEnv('AWS_REGION', 'eu-central-1'));
  afterEach(() => void vi.unstubAllEnvs());

  test('shows Google who it is, and acts as the service account', async () => {
    await using google = await startGoogle();
    await using account = openAccount(workloadOf(google));
    expect(await account.read()).toBe('kind: Pod');
    const [exchange, act] = google.asked;
    const { subject_token = '', ...form } = Object.fromEntries(new URLSearchParams(exchange?.body));
    expect(form).toEqual({
      audience,
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      subject_token_type: awsTokenType,
    });
    const { headers, ...request } = JSON.parse(decodeURIComponent(subject_token));
    expect(request).toEqual({
      url: 'https://sts.eu-central-1.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
      method: 'POST',
    });
    const signed = 'host;x-amz-date;x-amz-security-token;x-goog-cloud-target-resource';
    expect(Object.fromEntries(headers.map(({ key, value }: Record<string, string>) => [key, value]))).toEqual(
      {
        host: 'sts.eu-central-1.amazonaws.com',
        'x-amz-date': '20260101T000000Z',
        'x-amz-security-token': 'session',
        'x-goog-cloud-target-resource': audience,
        authorization: expect.stringMatching(
          `^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/eu-central-1/sts/aws4_request, SignedHeaders=${signed}, Signature=[0-9a-f]{64}$`,
        ),
      },
    );
    expect(exchange?.body).not.toContain('planted');
    expect(act).toEqual({
      path: '/act',
      authorization: 'Bearer token-1',
      body: JSON.stringify({ scope: [readOnly], lifetime: '3600s' }),
    });
  });

  test('reads as itself where it acts as nobody', async () => {
    await using google = await startGoogle();
    await using account = openAccount(workloadOf(google, false));
    expect(await account.read()).toBe('kind: Pod');
    expect(google.asked.map(({ path }) => path)).toEqual(['/exchange']);
    expect(new URLSearchParams(google.asked[0]?.body).get('scope')).toBe(readOnly);
  });

  test('needs no JSON: Google is known', async () => {
    const serviceAccount = 'reader@shop.iam.gserviceaccount.com';
    await using account = openAccount({
      workloadIdentity: { audience, serviceAccount },
      urlRestrictions: { allowedDomains: ['storage.googleapis.com'] },
    });
    await expect(account.read()).rejects.toThrow("Host 'sts.googleapis.com' is not allowed");
  });
});
