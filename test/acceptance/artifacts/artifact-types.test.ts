import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { type Origin, startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { samples } from '#test/shared/providers/artifacts/type-samples.ts';
import { toArtifact } from '#test/support/conformance/artifact-sample.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';

const content = 'kind: Pod';

/** Types whose files come from servers, each with one that has nothing but `web.yml`, and who reads it. */
const remotes = samples.flatMap((sample, index) => {
  const { remote } = sample;
  return remote === undefined ? [] : [{ ...sample, remote, artifactAccount: `account-${index}` }];
});

describe('artifacts, as the functions fetch them', () => {
  const origins = new Map<string, Origin>();
  let system: Subject;

  beforeAll(async () => {
    const artifacts: { [kind: string]: { enabled: boolean; accounts: JsonObject[] } } = {};
    for (const { remote, artifactAccount: name } of remotes) {
      const origin = await startOrigin(
        remote.createListener?.((_, response) => response.end(content)) ??
          ((_, response) => response.end(content)),
      );
      origins.set(name, origin);
      const server = remote.toServer?.(origin.url) ?? { credentialOrigins: [origin.url] };
      artifacts[remote.kind] ??= { enabled: true, accounts: [] };
      artifacts[remote.kind]?.accounts.push({
        name,
        ...remote.account,
        ...remote.toCredentials('planted-s3cr3t'),
        ...server,
      });
    }
    const urlRestrictions = { allowedIps: ['127.0.0.1'] };
    system = await startSubject({ settings: { artifacts: { urlRestrictions, ...artifacts } } });
  });

  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    for (const origin of origins.values()) await origin[Symbol.asyncDispose]();
  });

  it.each(remotes)('of type $type come $title', async ({ artifactAccount, ...sample }) => {
    const { remote } = sample;
    const origin = origins.get(artifactAccount)?.url ?? '';
    const artifact = toArtifact(sample, remote.toReference(origin, 'web.yml'));
    const body = JSON.stringify({ ...artifact, artifactAccount });
    const response = await system.fetch('/artifacts/fetch', { method: 'PUT', body });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = new TextDecoder().decode(bytes);
    expect([response.status, text]).toEqual([200, expect.any(String)]);
    expect((await remote.toText?.(bytes)) ?? text).toBe(content);
  });

  it('have accounts of every kind', async () => {
    const response = await system.fetch('/artifacts/credentials');
    const accounts = (await response.json()) as { name: string }[];
    expect(accounts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(remotes.map(({ artifactAccount }) => artifactAccount)),
    );
  });
});
