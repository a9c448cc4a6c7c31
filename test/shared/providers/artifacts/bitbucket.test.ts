import { describe, expect, test } from 'vitest';
import { AccessDeniedError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { openBitbucketSources } from '#providers/artifacts/bitbucket.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLocalOptions, fetchText } from './options.ts';
import { startOrigin } from './origin.ts';

function fetchFile(account: JsonObject, artifact: Artifact): Promise<string> {
  return fetchText(openBitbucketSources(createLocalOptions('bitbucket', { accounts: [account] })), {
    type: 'bitbucket/file',
    ...artifact,
  });
}

describe('fetching bitbucket/file', () => {
  const path = '/rest/api/1.0/projects/ACME/repos/shop/raw/web.yml?at=refs%2Fheads%2Fmain';

  test.each([
    [{ token: 't', username: 'ann', password: 'p' }, 'Bearer t'],
    [{ username: 'ann', password: 'p:q' }, `Basic ${btoa('ann:p:q')}`],
    [{ username: 'ann' }, undefined],
  ])('asks for the reference as it is, authenticated as %j has it', async (credentials, authorization) => {
    await using origin = await startOrigin((_, response) => response.end('kind: Pod'));
    const account = { name: 'cloud', ...credentials, credentialOrigins: [origin.url] };
    expect(await fetchFile(account, { reference: origin.url + path, version: 'ignored' })).toBe('kind: Pod');
    expect(origin.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      [path, authorization],
    ]);
  });

  test("sends credentials to Bitbucket's own origins alone, unless the account names others", async () => {
    await using origin = await startOrigin((_, response) => response.end(''));
    const failure = await getFailure(
      fetchFile({ name: 'cloud', token: 'planted' }, { reference: origin.url }),
    );
    expect(failure).toBeInstanceOf(AccessDeniedError);
    expect(origin.connections).toBe(0);
  });
});
