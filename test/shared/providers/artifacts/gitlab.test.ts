import { describe, expect, test } from 'vitest';
import { AccessDeniedError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { openGitLabSources } from '#providers/artifacts/gitlab.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createLocalOptions, fetchText } from './options.ts';
import { startOrigin } from './origin.ts';

function open(account: JsonObject, more: JsonObject = {}) {
  return openGitLabSources(
    createLocalOptions('gitlab', { accounts: [{ name: 'lab', ...account }], ...more }),
  );
}

function fetchFile(account: JsonObject, artifact: Artifact): Promise<string> {
  return fetchText(open(account), { type: 'gitlab/file', ...artifact });
}

test('the accounts of artifacts.gitlab are rejected for a token that no header can carry', () => {
  expect(open({ token: 'planted planted' }).rejectedAccounts).toEqual([
    {
      name: 'lab',
      reason:
        "artifacts.gitlab account 'lab': token: expected no blanks, line breaks or letters beyond ASCII",
    },
  ]);
});

describe('fetching gitlab/file', () => {
  const path = '/api/v4/projects/acme%2Fshop/repository/files/deploy%2Fweb.yml/raw';

  test.each([
    [{ version: 'release/1 2' }, `${path}?ref=release%2F1+2`],
    [{ version: '' }, `${path}?ref=master`],
    [{}, `${path}?ref=master`],
  ])('asks for the version %j', async (artifact, asked) => {
    await using origin = await startOrigin((_, response) => response.end('kind: Pod'));
    const account = { token: 'glpat-1', credentialOrigins: [origin.url] };
    expect(await fetchFile(account, { ...artifact, reference: origin.url + path })).toBe('kind: Pod');
    expect(origin.requests.map(({ url, headers }) => [url, headers['private-token']])).toEqual([
      [asked, 'glpat-1'],
    ]);
  });

  test('the version wins over a ref of the reference', async () => {
    await using origin = await startOrigin((_, response) => response.end(''));
    await fetchFile({}, { reference: `${origin.url}${path}?ref=main&lfs=true`, version: 'v2' });
    expect(origin.requests[0]?.url).toBe(`${path}?ref=v2&lfs=true`);
  });

  test('sends a token to gitlab.com alone, unless the account names other origins', async () => {
    await using origin = await startOrigin((_, response) => response.end(''));
    const failure = await getFailure(fetchFile({ token: 'planted' }, { reference: origin.url }));
    expect(failure).toBeInstanceOf(AccessDeniedError);
    expect(String(failure)).toContain('that origin is not in credentialOrigins');
    expect(origin.connections).toBe(0);
  });
});
