import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  AccessDeniedError,
  FailedOperationError,
  InvalidInputError,
  NotFoundError,
  VisibleError,
} from '#core/errors.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { DownloadLimits } from '#providers/artifacts/download/download-limits.ts';
import { redirectsMax } from '#providers/artifacts/download/downloader.ts';
import type { ArtifactSource } from '#providers/artifacts/download/source.ts';
import { createTestOptions, neverAborted, readBytes } from '#test/shared/providers/artifacts/options.ts';
import { type Origin, startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { type ArtifactTypeSample, type RemoteType, toArtifact } from './artifact-sample.ts';

/** Accounts that may reach this machine. */
const local: JsonObject = { urlRestrictions: { allowedIps: ['127.0.0.1'] } };
const secret = 'planted-s3cr3t';

/** Hosts that no account may reach unless its settings say so. */
const internalHosts = [
  ...['http://169.254.169.254', 'http://[fd00:ec2::254]', 'http://metadata.google.internal'],
  ...['http://10.0.0.1', 'http://192.168.1.1', 'http://[fc00::1]', 'http://[::ffff:10.0.0.1]'],
  ...['http://localhost', 'http://127.0.0.1', 'http://2130706433', 'http://0', 'http://spin-gate'],
  ...['ftp://files.example.com', 'gopher://files.example.com'],
];

/**
 * Holds a type of artifacts to what every type owes its users: guard, redirects, limits, credentials for their origin alone, errors that
 * tell no secret. What accounts of it share with those of other types is tested once, by the downloader's own tests.
 */
export function testArtifactType(sample: ArtifactTypeSample): void {
  describe(`the artifact type ${sample.type} (${sample.title})`, () => {
    testAccounts(sample);
    const { remote } = sample;
    if (remote === undefined) return;
    const type: RemoteSample = { ...sample, remote };
    testGuard(type);
    testRedirects(type);
    testLimits(type);
    testCredentials(type);
    testAnswers(type);
  });
}

interface RemoteSample extends ArtifactTypeSample {
  readonly remote: RemoteType;
}

function testAccounts(sample: ArtifactTypeSample): void {
  test('has accounts with a name, a type and the types that they fetch', async () => {
    await using account = openAccount(sample, { origin: 'https://files.example.com' });
    expect(account.source.name).not.toBe('');
    const { kind } = sample.remote ?? {};
    expect(account.source.type).toMatch(/^artifacts-|^git\/repo$/);
    if (kind) expect(account.source.type).toBe(kind === 'gitRepo' ? sample.type : `artifacts-${kind}`);
    expect(account.source.types).toEqual(sample.types ?? [sample.type]);
    expect(account.source.types.every(account.source.handles)).toBe(true);
  });

  test.each(sample.malformed)(
    'refuses the reference %j, repeats nothing of it, and calls nobody',
    async (text) => {
      await using origin = await startOrigin((_, response) => response.end('hello'));
      await using account = openAccount(sample, { origin: origin.url });
      const failure = await account.fail(text.replaceAll('ORIGIN', origin.url.slice('http://'.length)));
      expect(failure).toBeInstanceOf(InvalidInputError);
      expect(String(failure)).not.toContain('planted');
      expect(origin.connections).toBe(0);
    },
  );

  const { remote } = sample;
  if (remote === undefined) return;
  test('leaves a wrong account out alone, by its name and with a reason', () => {
    const wrong = { name: 'wrong', urlRestrictions: 'planted' };
    const members = { ...remote.account, ...remote.toServer?.('https://files.example.com') };
    const accounts = [
      { name: 'one', ...members },
      { ...members, ...wrong },
      {},
      'planted',
      { name: 'two', ...members },
    ];
    const { sources, rejectedAccounts } = sample.open(createTestOptions(toSettings(remote, accounts, {})));
    expect(sources.map(({ name }) => name)).toEqual(expect.arrayContaining(['one', 'two']));
    expect(rejectedAccounts.map(({ name }) => name)).toEqual([
      'wrong',
      `artifacts.${remote.kind}.accounts[2]`,
      `artifacts.${remote.kind}.accounts[3]`,
    ]);
    expect(JSON.stringify(rejectedAccounts)).not.toContain('planted');
  });
  test('has no accounts unless it is enabled', () => {
    const accounts = [{ name: 'one', ...remote.account, ...remote.toServer?.('https://files.example.com') }];
    const settings = { artifacts: { [remote.kind]: { enabled: false, accounts } } };
    expect(sample.open(createTestOptions(settings)).sources).toEqual([]);
  });
  if (remote.toServer !== undefined) testServers({ ...sample, remote });
}

/** What accounts are refused for that name a server. */
function testServers({ open, remote }: RemoteSample): void {
  test.each([
    ...['ftp://planted.example.com', 'planted', 'https://', 'http://planted:planted@127.0.0.1'],
    ...['https://example.com/?planted'],
  ])('leaves out an account with the server %j', (server) => {
    const members = { ...remote.account, ...remote.toServer?.(server) };
    const accounts = [{ name: 'one', ...members }];
    const { sources, rejectedAccounts } = open(createTestOptions(toSettings(remote, accounts, {})));
    expect(sources.filter(({ name }) => name === 'one')).toEqual([]);
    expect(rejectedAccounts.map(({ name }) => name)).toEqual(['one']);
    expect(JSON.stringify(rejectedAccounts)).not.toContain('planted');
  });

  test('leaves out an account with origins beside its server', () => {
    const members = { ...remote.account, ...remote.toServer?.('https://files.example.com') };
    const accounts = [{ name: 'one', ...members, credentialOrigins: ['https://planted.example.com'] }];
    const { rejectedAccounts } = open(createTestOptions(toSettings(remote, accounts, {})));
    expect(rejectedAccounts).toMatchObject([
      { name: 'one', reason: expect.stringContaining('credentialOrigins') },
    ]);
  });
}

function testGuard(sample: RemoteSample): void {
  // A server that an account names is held to be HTTP when the account is opened.
  const hosts = internalHosts.filter((host) => !sample.remote.toServer || host.startsWith('http:'));
  test.each(hosts)('does not reach %s', async (host) => {
    await using account = openAccount(sample, { origin: host, shared: {} });
    expect(await account.fail(sample.remote.toReference(host, 'web.yml'))).toBeInstanceOf(AccessDeniedError);
  });

  test('connects to no server that the restrictions exclude', async () => {
    await using server = await startServer(sample);
    for (const shared of [
      {},
      { urlRestrictions: { allowedIps: ['127.0.0.1'], allowedSchemes: ['https'] } },
    ]) {
      await using account = openAccount(sample, { origin: server.url, shared });
      expect(await account.fail(server.reference)).toBeInstanceOf(AccessDeniedError);
    }
    await using own = openAccount(sample, {
      origin: server.url,
      account: { urlRestrictions: { allowedDomains: ['a.example.com'] } },
    });
    expect(await own.fail(server.reference)).toBeInstanceOf(AccessDeniedError);
    expect(server.connections).toBe(0);
  });
}

function testRedirects(sample: RemoteSample): void {
  const redirect = (toTarget: (path: string) => string | undefined): RequestListener => {
    return ({ url = '' }, response) => {
      const location = toTarget(url);
      if (location === undefined) response.end('kind: Pod');
      else response.writeHead(302, { location }).end();
    };
  };

  test('follows redirects, with credentials at the same origin', async () => {
    await using server = await startServer(
      sample,
      redirect((path) => (path.startsWith('/moved') ? undefined : '/moved/web.yml')),
    );
    await using account = openAccount(sample, { origin: server.url, account: authenticate(sample, server) });
    expect(await account.read(server.reference)).toBe('kind: Pod');
    expect(server.files.map(({ headers }) => headers[getHeaderName(sample)])).toEqual([
      expectHeader(sample),
      expectHeader(sample),
    ]);
  });

  test('leaves credentials behind on the way to another origin', async () => {
    await using other = await startServer(sample);
    await using server = await startServer(
      sample,
      redirect(() => `${other.url}/web.yml`),
    );
    await using account = openAccount(sample, { origin: server.url, account: authenticate(sample, server) });
    expect(await account.read(server.reference)).toBe('kind: Pod');
    expect(JSON.stringify(other.requests.map(({ headers, url }) => [headers, url]))).not.toContain('planted');
    expect(other.requests[0]?.headers[getHeaderName(sample)]).toBeUndefined();
  });

  test.each([...internalHosts.slice(0, 7), 'file:///etc/passwd'])('does not follow to %s', async (host) => {
    await using server = await startServer(
      sample,
      redirect(() => `${host}/planted`),
    );
    await using account = openAccount(sample, { origin: server.url });
    const failure = await account.fail(server.reference);
    expect(failure).toBeInstanceOf(AccessDeniedError);
    expect(String(failure)).not.toContain('planted');
  });

  test(`gives up after ${redirectsMax} redirects`, async () => {
    await using server = await startServer(
      sample,
      redirect(() => '/again'),
    );
    await using account = openAccount(sample, { origin: server.url });
    expect(await account.fail(server.reference)).toBeInstanceOf(FailedOperationError);
    expect(server.files).toHaveLength(redirectsMax + 1);
  });
}

function testLimits(sample: RemoteSample): void {
  test('reads no more than artifacts.maxDownloadBytes', async () => {
    await using server = await startServer(sample, (_, response) => response.end('x'.repeat(5_001)));
    await using account = openAccount(sample, {
      origin: server.url,
      shared: { ...local, maxDownloadBytes: 5_000 },
    });
    await expect(account.read(server.reference)).rejects.toThrow('larger than the limit of 5000 bytes');
  });

  test.each<{ what: string; answer: RequestListener; limits: Partial<DownloadLimits>; complaint: string }>([
    {
      what: 'does not answer',
      answer: () => {},
      limits: { headersTimeoutMs: 50 },
      complaint: 'no answer in time',
    },
    {
      what: 'stalls',
      answer: (_, response) => response.write('part'),
      limits: { bodyTimeoutMs: 50 },
      complaint: 'the transfer stalled',
    },
  ])('gives up on a server that $what', async ({ answer, limits, complaint }) => {
    await using server = await startServer(sample, answer);
    await using account = openAccount(sample, { origin: server.url, limits });
    await expect(account.read(server.reference)).rejects.toThrow(complaint);
  });

  test('ends when its caller has gone, and lets go of the connection', async () => {
    const asked = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    await using server = await startServer(sample, (request) => {
      request.socket.on('close', () => closed.resolve());
      asked.resolve();
    });
    await using account = openAccount(sample, { origin: server.url });
    const leaving = new AbortController();
    const fetching = account.source.fetch(toArtifact(sample, server.reference), leaving.signal);
    void fetching.catch(() => undefined);
    await asked.promise;
    leaving.abort(new Error('the caller has gone'));
    await expect(fetching).rejects.toThrow('the caller has gone');
    await closed.promise;
  });
}

function testCredentials(sample: RemoteSample): void {
  test('authenticates at the origin that the account names', async () => {
    await using server = await startServer(sample);
    await using account = openAccount(sample, { origin: server.url, account: authenticate(sample, server) });
    expect(await account.read(server.reference)).toBe('kind: Pod');
    const sent = server.requests.map(({ headers }) => headers[getHeaderName(sample)]);
    expect(sent).toEqual(server.requests.map(() => expectHeader(sample)));
  });

  test('needs none', async () => {
    await using server = await startServer(sample);
    await using account = openAccount(sample, { origin: server.url });
    expect(await account.read(server.reference)).toBe('kind: Pod');
    expect(server.requests[0]?.headers[getHeaderName(sample)]).toBeUndefined();
  });

  // A reference that names no host cannot lead to another one.
  if (sample.remote.toServer !== undefined) return;
  test('does not even connect to another origin', async () => {
    await using server = await startServer(sample);
    await using foreign = await startServer(sample);
    await using account = openAccount(sample, { origin: server.url, account: authenticate(sample, server) });
    const failure = await account.fail(foreign.reference);
    expect(failure).toBeInstanceOf(AccessDeniedError);
    expect(String(failure)).not.toContain('planted');
    expect(foreign.connections).toBe(0);
  });
}

function testAnswers(sample: RemoteSample): void {
  test.each([
    { status: 404, kind: NotFoundError },
    { status: 401, kind: FailedOperationError },
    { status: 403, kind: FailedOperationError },
    { status: 500, kind: FailedOperationError },
  ])('answers $status with the right error, which tells host and account alone', async ({ status, kind }) => {
    await using server = await startServer(sample, (_, response) => {
      response.writeHead(status, { 'x-token': 'planted' }).end('planted');
    });
    await using account = openAccount(sample, { origin: server.url, account: authenticate(sample, server) });
    const failure = await account.fail(sample.remote.toReference(server.url, 'planted.yml'));
    expect(failure).toBeInstanceOf(kind);
    expect(String(failure)).toContain(`${status} status code from 127.0.0.1:${server.port}`);
    expect(String(failure)).toContain("'files'");
    expect(String(failure)).not.toContain('planted');
  });
}

/** How an account is opened. */
interface AccountOptions {
  /** Where the server of the account is, if accounts of the type name one. */
  readonly origin: string;
  /** Members of the account besides those that all have. */
  readonly account?: JsonObject;
  /** Members of `artifacts` beside the accounts. Default: this machine may be reached. */
  readonly shared?: JsonObject;
  readonly limits?: Partial<DownloadLimits>;
}

/** The account `files` of a remote type, or the one that a type has without any. */
function openAccount(sample: ArtifactTypeSample, options: AccountOptions) {
  const { origin, account = {}, shared = local, limits = {} } = options;
  const { remote } = sample;
  const accounts = [{ name: 'files', ...remote?.account, ...remote?.toServer?.(origin), ...account }];
  const settings = remote === undefined ? {} : toSettings(remote, accounts, shared);
  const { sources, rejectedAccounts } = sample.open({
    ...createTestOptions(settings, remote?.services && { services: remote.services }),
    limits,
  });
  expect(rejectedAccounts).toEqual([]);
  const source = sources.find(({ name, handles }) => handles(sample.type) && (!remote || name === 'files'));
  if (source === undefined) throw new Error(`no account fetches ${sample.type}`);
  const read = async (reference: string) => {
    const body = await fetchBytes(source, toArtifact(sample, reference));
    return remote?.toText?.(body) ?? Buffer.from(body).toString('utf8');
  };
  return {
    source,
    read,
    /** What fetching it fails with. */
    async fail(reference: string): Promise<VisibleError> {
      const failure: unknown = await read(reference).catch((error: unknown) => error);
      if (failure instanceof VisibleError) return failure;
      throw new Error(`expected an error that callers may see, got ${String(failure)}`);
    },
    async [Symbol.asyncDispose]() {
      for (const opened of sources) await opened[Symbol.asyncDispose]();
    },
  };
}

async function fetchBytes(source: ArtifactSource, artifact: Artifact): Promise<Uint8Array> {
  return readBytes((await source.fetch(artifact, neverAborted())).body);
}

function toSettings({ kind }: RemoteType, accounts: readonly JsonValue[], shared: JsonObject): JsonObject {
  return { artifacts: { ...shared, [kind]: { enabled: true, accounts: [...accounts] } } };
}

function authenticate({ remote }: RemoteSample, { url }: Pick<Origin, 'url'>): JsonObject {
  return { ...remote.toCredentials(secret), ...(!remote.toServer && { credentialOrigins: [url] }) };
}

function getHeaderName({ remote }: RemoteSample): string {
  return remote.toHeader(secret)[0];
}

/** What the header with the secret must hold. */
function expectHeader({ remote }: RemoteSample): unknown {
  const [, value] = remote.toHeader(secret);
  return typeof value === 'string' ? value : expect.stringMatching(value);
}

/** A server of the type, with one file, and the requests for the file itself. */
async function startServer({ remote }: RemoteSample, answer?: RequestListener) {
  const files: Parameters<RequestListener>[0][] = [];
  const sendFile: RequestListener = (request, response) => {
    files.push(request);
    if (answer === undefined) response.end('kind: Pod');
    else answer(request, response);
  };
  const origin = await startOrigin(remote.createListener?.(sendFile) ?? sendFile);
  const reference = remote.toReference(origin.url, 'web.yml');
  return {
    ...{ url: origin.url, port: origin.port, requests: origin.requests, files, reference },
    get connections() {
      return origin.connections;
    },
    [Symbol.asyncDispose]: () => origin[Symbol.asyncDispose](),
  };
}
