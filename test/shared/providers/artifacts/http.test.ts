import { describe, expect, test } from 'vitest';
import { AccessDeniedError, InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { referenceLengthMax } from '#providers/artifacts/download/account-downloader.ts';
import { openHttpSources } from '#providers/artifacts/http.ts';
import { createTestClock, createTestLog, createTestOptions, neverAborted, readText } from './options.ts';
import { startOrigin } from './origin.ts';

const local = { urlRestrictions: { allowedIps: ['127.0.0.1'] } };

function open(http: JsonObject, shared: JsonObject = local) {
  return openHttpSources(createTestOptions({ artifacts: { ...shared, http } }));
}

function names(http: JsonObject): string[] {
  return open(http).sources.map(({ name }) => name);
}

describe('the accounts of artifacts.http', () => {
  test('are none unless enabled', () => {
    expect(names({})).toEqual([]);
    expect(names({ enabled: false, accounts: [{ name: 'a' }] })).toEqual([]);
    expect(openHttpSources(createTestOptions({})).sources).toEqual([]);
  });

  test('include the built-in one as long as none has credentials', () => {
    const user = { name: 'b', 'username-password-file': '/x' };
    expect(names({ enabled: true })).toEqual(['no-auth-http-account']);
    expect(names({ enabled: 'true', accounts: [{ name: 'a' }] })).toEqual(['a', 'no-auth-http-account']);
    expect(names({ enabled: true, accounts: [{ name: 'a' }, user] })).toEqual(['a', 'b']);
    expect(names({ enabled: true, accounts: [{ name: 'no-auth-http-account' }] })).toEqual([
      'no-auth-http-account',
    ]);
  });

  test('are rejected one by one, by name and reason', () => {
    const { sources, rejectedAccounts } = open({
      enabled: true,
      accounts: [
        { name: 'good' },
        { name: 'list', username: ['planted'] },
        { name: 'range', urlRestrictions: { rejectedIps: ['planted'] } },
        { name: 'good', username: 'planted' },
        { name: 'text', urlRestrictions: 'planted' },
        { username: 'planted' },
        { name: { planted: true } },
        'planted',
        { name: 7 },
      ],
    });

    expect(sources.map(({ name }) => name)).toEqual(['good', '7']);
    expect(rejectedAccounts).toEqual([
      { name: 'list', reason: "artifacts.http account 'list': username: expected a string, got a list" },
      {
        name: 'range',
        reason:
          "artifacts.http account 'range': urlRestrictions: rejectedIps: expected an IP address or a CIDR block such as 10.0.0.0/8",
      },
      { name: 'good', reason: "artifacts.http account 'good': the name is taken" },
      {
        name: 'text',
        reason:
          "artifacts.http account 'text': urlRestrictions: expected an object, got a string (not shown)",
      },
      { name: 'artifacts.http.accounts[5]', reason: 'artifacts.http.accounts[5]: name: expected a value' },
      { name: 'artifacts.http.accounts[6]', reason: 'artifacts.http.accounts[6]: name: expected a value' },
      { name: 'artifacts.http.accounts[7]', reason: 'artifacts.http.accounts[7]: name: expected a value' },
    ]);
  });

  test('are rejected as a whole when their list is none', () => {
    const { sources, rejectedAccounts } = open({ enabled: true, accounts: 'planted' });
    expect(sources).toEqual([]);
    expect(rejectedAccounts).toEqual([
      {
        name: 'artifacts.http',
        reason: 'artifacts.http: accounts: expected a list, got a string (not shown)',
      },
    ]);
  });
});

describe('fetching http/file', () => {
  async function fetchFrom(http: JsonObject, reference: string | undefined, shared: JsonObject = local) {
    const { sources } = open(http, shared);
    const [account] = sources;
    const artifact = { type: 'http/file', ...(reference === undefined ? {} : { reference }) };
    try {
      const content = await account?.fetch(artifact, neverAborted());
      return await readText(content?.body);
    } finally {
      for (const source of sources) await source[Symbol.asyncDispose]();
    }
  }

  test('reads the reference with the credentials of the account', async () => {
    await using origin = await startOrigin((_, response) => response.end('kind: Pod'));
    const accounts = [{ name: 'a', username: 'ann', password: 12345, 'credential-origins': [origin.url] }];
    const text = await fetchFrom({ enabled: true, accounts }, `${origin.url}/a.yml?x=y`);
    expect(text).toBe('kind: Pod');
    expect(origin.requests[0]?.url).toBe('/a.yml?x=y');
    expect(origin.requests[0]?.headers.authorization).toBe(`Basic ${btoa('ann:12345')}`);
  });

  test('asks once more with the secret of now where a host refuses the credentials', async () => {
    let password = 'old';
    let valid = 'old';
    await using origin = await startOrigin((request, response) => {
      response.statusCode = request.headers.authorization === `Basic ${btoa(`ann:${valid}`)}` ? 200 : 401;
      response.end('kind: Pod');
    });
    const options = createTestOptions(
      {
        artifacts: {
          ...local,
          http: {
            enabled: true,
            accounts: [
              { name: 'a', username: 'ann', password: 'encrypted:ssm!n:a', credentialOrigins: [origin.url] },
            ],
          },
        },
      },
      { clock: createTestClock() },
    );
    const follow = async () => {
      const asOfMs = options.clock.now();
      return { text: password, versionId: password, asOfMs, readAgainAtMs: asOfMs + 300_000 };
    };
    const secrets = { follow, read: async () => '', readRoles: async () => undefined };
    const { sources } = openHttpSources({ ...options, services: { secrets } });
    await using source = sources[0];
    const fetchText = async () =>
      readText((await source?.fetch({ type: 'http/file', reference: origin.url }, neverAborted()))?.body);

    expect(await fetchText()).toBe('kind: Pod');
    await options.clock.sleep(20_000);
    password = 'new';
    valid = 'new';
    expect(await fetchText()).toBe('kind: Pod');
    valid = 'another';
    await expect(fetchText()).rejects.toThrow('Received 401 status code');

    expect(origin.requests).toHaveLength(4);
  });

  test('sends no credentials without an account that has them, anywhere', async () => {
    await using origin = await startOrigin((_, response) => response.end('kind: Pod'));
    expect(await fetchFrom({ enabled: true }, origin.url)).toBe('kind: Pod');
    expect(origin.requests[0]?.headers.authorization).toBeUndefined();
  });

  test.each(['//ann:planted@', '//planted@', '//:planted@'])(
    'refuses a reference with credentials of its own (%s)',
    async (userInfo) => {
      await using origin = await startOrigin((_, response) => response.end('kind: Pod'));
      await expect(fetchFrom({ enabled: true }, origin.url.replace('//', userInfo))).rejects.toThrow(
        new InvalidInputError(
          'reference: expected a URL without user name and password: credentials are those of the artifact account',
        ),
      );
      expect(origin.connections).toBe(0);
    },
  );

  test('refuses a reference beyond the limit by its length', async () => {
    await expect(
      fetchFrom({ enabled: true }, 'http://a.example.com/'.padEnd(referenceLengthMax + 1, 'x')),
    ).rejects.toThrow(new InvalidInputError('reference: expected at most 8192 characters, got 8193'));
  });

  test('refuses to send credentials where the account does not name the origin', async () => {
    await using foreign = await startOrigin((_, response) => response.end('stolen'));
    const login = { username: 'ann', password: 'planted' };
    for (const more of [
      {},
      { credentialOrigins: 'https://files.example.com,http://127.0.0.1' },
      { credentialOrigins: [`https://127.0.0.1:${foreign.port}`] },
      { urlRestrictions: { allowedDomains: ['127.*'], allowedIps: ['127.0.0.1'] } },
    ]) {
      await expect(
        fetchFrom({ enabled: true, accounts: [{ name: 'a', ...login, ...more }] }, `${foreign.url}/a`),
      ).rejects.toThrow(
        new AccessDeniedError(
          `artifacts.http account 'a': its credentials may not go to ${foreign.url}: that origin is not in credentialOrigins`,
        ),
      );
    }
    expect(foreign.connections).toBe(0);
  });

  test('warns of an account with credentials for no origin, without them', () => {
    const log = createTestLog();
    const accounts = [
      { name: 'nowhere', username: 'ann', password: 'planted' },
      {
        name: 'somewhere',
        username: 'ann',
        password: 'planted',
        credentialOrigins: ['https://a.example.com'],
      },
      { name: 'open' },
    ];
    openHttpSources(createTestOptions({ artifacts: { http: { enabled: true, accounts } } }, { log }));
    expect(log.lines).toEqual([expect.stringMatching(/it refuses every download \{"account":"nowhere"\}$/)]);
  });

  test('refuses this machine unless the restrictions allow it', async () => {
    await using origin = await startOrigin((_, response) => response.end('secret'));
    const own = { urlRestrictions: { 'allowed-ips': ['127.0.0.1'] } };
    await expect(fetchFrom({ enabled: true }, origin.url, {})).rejects.toThrow('rejectVerbatimIps');
    expect(await fetchFrom({ enabled: true, accounts: [{ name: 'a', ...own }] }, origin.url, {})).toBe(
      'secret',
    );
  });

  test.each([undefined, '', 'planted', '/planted', 'http://', 'http://[planted'])(
    'refuses the reference %j without repeating it',
    async (reference) => {
      await expect(fetchFrom({ enabled: true }, reference)).rejects.toThrow(
        /^Malformed URL \(check the reference of the artifact\): expected an absolute URL$/,
      );
    },
  );
});
