import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { storedBytesMax } from '#artifact-store/artifact-store.ts';
import { parseArtifactStore } from '#artifact-store/artifact-store-settings.ts';
import { createS3Store } from '#artifact-store/services/artifact-store.ts';
import { FailedOperationError, NotFoundError, UnavailableError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { neverAborted, readText } from '#test/shared/providers/artifacts/options.ts';
import { type Origin, startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { createTestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { createTestHost } from '#test/support/services/test-host.ts';

const reference = { application: 'shop', hash: 'abc123' };

let dir: TempDir;
let origin: Origin;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: IncomingMessage[];

beforeEach(async () => {
  dir = await makeTempDir();
  asked = [];
  answer = (_request, response) => void response.end('stored');
  origin = await startOrigin((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAOWN');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'own-secret-key');
  vi.stubEnv('AWS_SESSION_TOKEN', undefined);
  vi.stubEnv('AWS_PROFILE', undefined);
  vi.stubEnv('AWS_CONFIG_FILE', `${dir.path}/none`);
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', `${dir.path}/none`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await origin[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

/** Reads one thing out of a store with these settings of S3, whose own endpoint is the origin. */
async function read(s3: JsonObject = {}, signal = neverAborted()): Promise<string> {
  const settings = parseArtifactStore({
    'artifact-store': { type: 's3', s3: { bucket: 'artifacts', ...s3 } },
  });
  if (settings === undefined) throw new Error('it is off');
  const clock = createTestClock();
  const place = { placement: 'local', environment: { AWS_ENDPOINT_URL_S3: origin.url } } as const;
  const { openAws } = createTestHost({ clock, ...place });
  const store = createS3Store(settings, { openAws, clock, randomness: testRandomness });
  return readText(await store.open(reference, signal));
}

describe('the artifact store of S3', () => {
  test('is read as the process, in the region of the settings', async () => {
    expect(await read({ region: 'us-east-2' })).toBe('stored');
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /artifacts/shop/abc123']);
    expect(asked[0]?.headers.authorization).toMatch(/Credential=AKIAOWN\/\d+\/us-east-2\/s3\/aws4_request/);
  });

  test('at a server of its own is read by the key beside it, else unsigned', async () => {
    await read({ url: origin.url, accessKey: 'AKIAKEY', secretKey: 'secret' });
    await read({ url: origin.url });

    expect(asked[0]?.headers.authorization).toMatch(/Credential=AKIAKEY\/\d+\/us-east-1\//);
    expect(asked[1]?.headers.authorization).toBeUndefined();
  });

  test.each([
    { status: 404, code: 'NoSuchKey', type: NotFoundError, message: /There is no ref:\/\/shop\/abc123/ },
    { status: 404, code: 'NoSuchBucket', type: FailedOperationError, message: /NoSuchBucket: check/ },
    { status: 403, code: 'AccessDenied', type: FailedOperationError, message: /artifactStoreBucket/ },
    { status: 301, code: 'PermanentRedirect', type: FailedOperationError, message: /PermanentRedirect/ },
  ])('that answers $status $code is asked once', async ({ status, code, type, message }) => {
    answer = (_request, response) =>
      void response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(`<Code>${code}</Code>`);

    const reading = read();

    await expect(reading).rejects.toThrow(type);
    await expect(reading).rejects.toThrow(message);
    expect(asked).toHaveLength(1);
  });

  test('that is busy is asked again, three times at most', async () => {
    answer = (_request, response) => void response.writeHead(asked.length < 3 ? 503 : 200).end('late');
    expect(await read()).toBe('late');

    answer = (_request, response) => void response.writeHead(503).end();
    asked = [];
    await expect(read()).rejects.toThrow(UnavailableError);
    expect(asked).toHaveLength(3);
  });

  test('that is away is unavailable', async () => {
    await expect(read({ url: 'http://127.0.0.1:1' })).rejects.toThrow(UnavailableError);
  });

  test('gives no more than so many bytes', async () => {
    answer = (_request, response) => {
      const piece = Buffer.alloc(2 ** 20);
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
        response.once('drain', write);
      };
      write();
    };
    await expect(read()).rejects.toThrow(`more than ${storedBytesMax} bytes`);
  });

  test('is left when the caller goes', async () => {
    const leaving = new AbortController();
    answer = () => leaving.abort();
    await expect(read({}, leaving.signal)).rejects.toThrow();
    expect(asked).toHaveLength(1);
  });
});
