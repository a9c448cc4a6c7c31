import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import { openJenkinsSources } from '#providers/artifacts/jenkins.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createTestOptions, fetchText } from './options.ts';
import { startOrigin } from './origin.ts';

function open(settings: JsonObject) {
  const { artifacts, ...others } = settings;
  const restricted = { urlRestrictions: { allowedIps: ['127.0.0.1'] }, ...(artifacts as JsonObject) };
  return openJenkinsSources(createTestOptions({ ...others, artifacts: restricted }));
}

function fetchFile(account: JsonObject, artifact: Artifact): Promise<string> {
  const jenkins = { enabled: true, accounts: [{ name: 'ci', ...account }] };
  return fetchText(open({ artifacts: { jenkins } }), { type: 'jenkins/file', ...artifact });
}

describe('the accounts of Jenkins', () => {
  const address = 'https://ci.example.com';

  test('are its masters, too, which Clouddriver reads', () => {
    const artifacts = { jenkins: { enabled: true, accounts: [{ name: 'own', address }] } };
    const masters = [
      { name: 'own', address: 'https://other.example.com' },
      { name: 'shared', address },
    ];
    const { sources, rejectedAccounts } = open({ artifacts, jenkins: { enabled: 'true', masters } });
    expect(sources.map(({ name, type, types }) => [name, type, types])).toEqual([
      ['own', 'artifacts-jenkins', ['jenkins/file']],
      ['shared', 'artifacts-jenkins', ['jenkins/file']],
    ]);
    expect(rejectedAccounts).toEqual([]);
  });

  test('are none unless enabled', () => {
    const masters = [{ name: 'a', address }];
    expect(
      open({ jenkins: { masters }, artifacts: { jenkins: { enabled: false, accounts: masters } } }),
    ).toEqual({ sources: [], rejectedAccounts: [] });
  });

  test('are rejected by their place', () => {
    const { rejectedAccounts } = open({ jenkins: { enabled: true, masters: [{ address }, { name: 'b' }] } });
    expect(rejectedAccounts).toEqual([
      { name: 'jenkins.masters[0]', reason: 'jenkins.masters[0]: name: expected a value' },
      {
        name: 'b',
        reason:
          "artifacts.jenkins account 'b': address: expected an http or https URL without user name, query and fragment",
      },
    ]);
  });
});

describe('fetching jenkins/file', () => {
  test.each([
    { path: '', name: 'shop', reference: 'dist/web.yml', asked: '/job/shop/7/artifact/dist/web.yml' },
    { path: '/', name: 'shop', reference: '/dist/web.yml', asked: '/job/shop/7/artifact/dist/web.yml' },
    {
      path: '/jenkins',
      name: 'team/job/my shop',
      reference: 'a b%20c.yml',
      asked: '/jenkins/job/team/job/my%20shop/7/artifact/a%20b%20c.yml',
    },
    { path: '', name: 'a%2Fb', reference: '100%.yml', asked: '/job/a%2Fb/7/artifact/100%.yml' },
    { path: '', name: 'shop', reference: 'a%3Fb%23%25', asked: '/job/shop/7/artifact/a%3Fb%23%25' },
  ])('reads what a build archived: $asked', async ({ path, asked, ...artifact }) => {
    await using origin = await startOrigin((_, response) => response.end('kind: Pod'));
    const account = { address: origin.url + path, username: 'ann', password: 'p' };
    expect(await fetchFile(account, { ...artifact, version: '7' })).toBe('kind: Pod');
    expect(origin.requests.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
      ['GET', asked, `Basic ${btoa('ann:p')}`],
    ]);
  });

  test.each([
    ['name', { version: '7', reference: 'a' }],
    ['version', { name: 'shop', reference: 'a' }],
    ['name', { name: '../../planted', version: '7', reference: 'a' }],
    ['version', { name: 'shop', version: '7/../../planted', reference: 'a' }],
    ['reference', { name: 'shop', version: '7', reference: 'x'.repeat(4_097) }],
    ['name', { name: 'planted%00', version: '7', reference: 'a' }],
    ['name', { name: 'planted%0d%0Ax', version: '7', reference: 'a' }],
    ['name', { name: 'a%2F..%2f..%2Fplanted', version: '7', reference: 'a' }],
    ['version', { name: 'shop', version: '7%2f%2E%2e', reference: 'planted' }],
    ['version', { name: 'shop', version: '7%00', reference: 'planted' }],
    ['reference', { name: 'shop', version: '7', reference: 'planted.yml%00.txt' }],
    ['reference', { name: 'shop', version: '7', reference: 'planted%5c..%5Cx' }],
    ['reference', { name: 'shop', version: '7', reference: 'planted%c2%85' }],
    ['reference', { name: 'shop', version: '7', reference: 'planted%7F' }],
  ])('refuses a %s that is missing, leads elsewhere or is too long', async (field, artifact) => {
    await using origin = await startOrigin((_, response) => response.end(''));
    const failure = await getFailure(fetchFile({ address: origin.url }, artifact));
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(String(failure)).toContain(`${field}: expected`);
    expect(String(failure)).not.toContain('planted');
    expect(origin.connections).toBe(0);
  });
});
