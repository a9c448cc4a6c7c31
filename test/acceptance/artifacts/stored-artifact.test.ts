import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { type Fiat, startFiat } from '#test/support/services/fiat.ts';
import { type Subject, startSystem } from '#test/support/system/system.ts';

const bucket = 'spinnaker-artifacts';
const content = 'kind: grüße\n'.repeat(10_000);
const reference = `ref://shop/${createHash('sha256').update(content).digest('hex')}`;

describe('fetching an artifact that stands in the artifact store', () => {
  const stack = new AsyncDisposableStack();
  let aws: AwsEndpoints;
  let fiat: Fiat;
  let system: Subject;

  beforeAll(async () => {
    aws = stack.use(await startAwsEndpoints());
    aws.objects.set(reference.replace('ref:/', bucket), content);
    const [reader, stranger] = [{ shop: ['READ'] }, { other: ['READ'] }] as const;
    const users = { reader: { applications: reader }, stranger: { applications: stranger } };
    fiat = stack.use(await startFiat({ users }));
    const settings = {
      'artifact-store': { type: 's3', s3: { enabled: true, bucket, region: 'eu-west-1' } },
      services: { fiat: { enabled: true, baseUrl: fiat.url } },
    };
    system = stack.use(await startSystem({ settings }));
  });

  beforeEach(() => fiat.setMode('up'));

  afterAll(() => stack.disposeAsync());

  async function fetchAs(user: string, artifact: object): Promise<readonly [number, string]> {
    const response = await system.fetch('/artifacts/fetch', {
      method: 'PUT',
      headers: { 'X-SPINNAKER-USER': user },
      body: JSON.stringify({ type: 'remote/base64', artifactAccount: 'embedded-artifact', ...artifact }),
    });
    return [response.status, await response.text()];
  }

  test('answers its content to who may read the application', async () => {
    expect(await fetchAs('reader', { reference })).toEqual([200, content]);
  });

  test('is refused to others before the store is asked', async () => {
    const asked = aws.countCalls('GetObject');
    expect(await fetchAs('stranger', { reference })).toEqual([
      403,
      expect.stringContaining('Access denied to application shop - required authorization: READ'),
    ]);
    await fiat.setMode('down');
    expect((await fetchAs('newcomer', { reference }))[0]).toBe(503);
    expect(aws.countCalls('GetObject')).toBe(asked);
  });

  test('asks Fiat for nothing where the content is in the reference itself', async () => {
    await fiat.setMode('down');
    const calls = fiat.calls.length;
    expect(await fetchAs('somebody', { reference: btoa('text') })).toEqual([200, 'text']);
    expect(fiat.calls).toHaveLength(calls);
  });

  test.each([
    [{ reference: 'ref://shop/abc123' }, 404, 'There is no ref://shop/abc123'],
    [{ reference: 'ref://../abc123' }, 400, 'application'],
    [{ reference: 'ref://shop' }, 400, 'reference: '],
    [{ reference, type: 'embedded/base64' }, 400, 'must be base 64'],
    [{ reference, type: 'remote/map/base64' }, 400, 'remote/map/base64'],
    [{ reference, artifactAccount: 'none' }, 404, "Credentials 'none'"],
    [{ reference, artifactAccount: '' }, 400, 'An artifact account must be supplied'],
  ])('tells what is wrong with %j', async (artifact, status, message) => {
    expect(await fetchAs('reader', artifact)).toEqual([status, expect.stringContaining(message)]);
  });
});
