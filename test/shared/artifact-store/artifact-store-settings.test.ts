import { describe, expect, test } from 'vitest';
import { listArtifactStoreProblems, parseArtifactStore } from '#artifact-store/artifact-store-settings.ts';
import type { JsonObject } from '#core/json.ts';
import { pickPublicSettings } from '#settings/public-settings.ts';

const make = (store: JsonObject): JsonObject => ({ 'artifact-store': store });
const s3 = { bucket: 'spinnaker-artifacts' };
const key = { accessKey: 'AKIAPLANTED', secretKey: 'planted' };

describe('the settings of the artifact store', () => {
  test.each([
    ['nothing of it', {}],
    ['no type', make({ s3 })],
    ['it switched off', make({ enabled: false, type: 's3', s3 })],
  ])('with %s have none', (_what, settings) => {
    expect(parseArtifactStore(settings)).toBeUndefined();
    expect(listArtifactStoreProblems(settings, true)).toEqual([]);
  });

  test('name a bucket, as those of other services do', () => {
    const settings = make({
      type: 's3',
      s3: { ...s3, enabled: true, profile: 'dev', force_path_style: true },
    });
    expect(parseArtifactStore(settings)).toEqual({
      ...s3,
      region: undefined,
      url: undefined,
      key: undefined,
    });
  });

  test('name a server of its own, with a key', () => {
    const server = { ...s3, url: 'https://minio.test:9000/', region: 'eu', ...key };
    expect(parseArtifactStore(make({ type: 's3', s3: server }))).toEqual({
      ...s3,
      ...{ url: 'https://minio.test:9000', region: 'eu' },
      key: { accessKeyId: key.accessKey, secretAccessKey: key.secretKey },
    });
  });

  test.each([
    ['artifactStore.type: expected s3', { type: 'gcs', s3 }],
    ['artifactStore.type: expected s3', { enabled: true, s3 }],
    ['artifactStore.s3.bucket: expected', { type: 's3' }],
    ['artifactStore.s3.bucket: expected', { type: 's3', s3: { bucket: 'a/../b' } }],
    ['artifactStore.s3.url: expected', { type: 's3', s3: { ...s3, url: 'https://me:planted@minio.test' } }],
    ['artifactStore.s3.url: expected', { type: 's3', s3: { ...s3, url: 'https://minio.test/path' } }],
    [
      'artifactStore.s3: expected both',
      { type: 's3', s3: { ...s3, url: 'https://a.test', accessKey: 'planted' } },
    ],
    ['artifactStore.s3.accessKey: expected only', { type: 's3', s3: { ...s3, ...key } }],
    ['artifactStore: expected an object', 'planted'],
  ])('are told to be wrong: %s', (message, store) => {
    const settings = { artifactStore: store };
    expect(() => parseArtifactStore(settings)).toThrow(message);
    const problems = listArtifactStoreProblems(settings, false);
    expect(problems).toEqual([{ message: 'artifact store', reason: expect.stringContaining(message) }]);
    expect(JSON.stringify(problems)).not.toContain('planted');
  });

  test('are public but for the key, of which the log says that functions do not have it', () => {
    const settings = make({ type: 's3', s3: { ...s3, url: 'https://minio.test', ...key } });
    const facts = pickPublicSettings(settings);

    expect(JSON.stringify(facts)).not.toMatch(/planted/i);
    expect(parseArtifactStore(facts)).toMatchObject({ ...s3, url: 'https://minio.test', key: undefined });
    expect(listArtifactStoreProblems(settings, true)).toMatchObject([
      { reason: expect.stringContaining('accessKey: of no effect when deployed') },
    ]);
    expect(listArtifactStoreProblems(settings, false)).toEqual([]);
  });
});
