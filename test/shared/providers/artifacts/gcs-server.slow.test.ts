import { afterAll, beforeAll, expect, test } from 'vitest';
import { NotFoundError } from '#core/errors.ts';
import { openGcsSources } from '#providers/artifacts/gcs.ts';
import { type FakeGcs, startFakeGcs } from '#test/support/artifacts/fake-gcs.ts';
import { describeWithGo } from '#test/support/cluster/go-program.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLocalOptions, neverAborted, readBytes } from './options.ts';

/** Building the server may take this long. */
const startTimeoutMs = 600_000;

describeWithGo('gcs/object from fake-gcs-server', () => {
  let gcs: FakeGcs;

  beforeAll(async () => {
    gcs = await startFakeGcs();
    await gcs.createBucket('configs');
  }, startTimeoutMs);
  afterAll(() => gcs?.[Symbol.asyncDispose]());

  async function read(reference: string): Promise<Buffer> {
    const options = createLocalOptions('gcs', { accounts: [{ name: 'bucket', apiEndpoint: gcs.url }] });
    await using source = openGcsSources(options).sources[0];
    const content = await source?.fetch({ type: 'gcs/object', reference }, neverAborted());
    return Buffer.from(await readBytes(content?.body));
  }

  test('is the newest generation, or the one behind the #', async () => {
    const first = await gcs.putObject('configs', 'shop/web.yml', 'version: 1');
    const second = await gcs.putObject('configs', 'shop/web.yml', 'version: 2');
    expect(String(await read('gs://configs/shop/web.yml'))).toBe('version: 2');
    expect(String(await read(`gs://configs/shop/web.yml#${first}`))).toBe('version: 1');
    expect(String(await read(`gs://configs/shop/web.yml#${second}`))).toBe('version: 2');
  });

  test.each(['a b/ü?.yml', 'a%2Fb.yml', "it's (1)+*~.yml", 'x//y', '../z'])(
    'is found by the name %j',
    async (name) => {
      await gcs.putObject('configs', name, name);
      expect(String(await read(`gs://configs/${name}`))).toBe(name);
    },
  );

  test('may have a # in its name, when a generation follows', async () => {
    const generation = await gcs.putObject('configs', 'a#7', 'sharp');
    expect(String(await read(`gs://configs/a#7#${generation}`))).toBe('sharp');
  });

  test('comes whole, byte for byte', async () => {
    const content = Buffer.alloc(
      5 * 2 ** 20,
      Uint8Array.from({ length: 251 }, (_, index) => index),
    );
    await gcs.putObject('configs', 'large.bin', new Uint8Array(content));
    expect((await read('gs://configs/large.bin')).equals(content)).toBe(true);
  });

  test.each(['gs://configs/missing.yml', 'gs://configs/shop/web.yml#1', 'gs://missing/web.yml'])(
    'is not found: %s',
    async (reference) => {
      expect(await getFailure(read(reference))).toBeInstanceOf(NotFoundError);
    },
  );
});
