import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FailedOperationError, InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { openOracleSources } from '#providers/artifacts/oracle.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import {
  createLocalOptions,
  createTestClock,
  expectRejected,
  fetchText,
  neverAborted,
  readText,
} from './options.ts';
import { startOrigin } from './origin.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const passphrase = 'planted-passphrase';
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const encrypted = privateKey
  .export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase })
  .toString();
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const owner = { tenancyId: 'ocid1.tenancy.oc1..a', userId: 'ocid1.user.oc1..b', fingerprint: '20:3b:97' };
const user = { ...owner, sshPrivateKey: pem };

function open(account: JsonObject, more: Partial<ProviderContext> = {}) {
  const accounts = [{ name: 'bucket', namespace: 'acme', region: 'eu-frankfurt-1', ...account }];
  return openOracleSources(createLocalOptions('oracle', { accounts }, more));
}

function fetchObject(account: JsonObject, reference: string, more?: Partial<ProviderContext>) {
  return fetchText(open(account, more), { type: 'oracle/object', reference });
}

/** Whether a request is signed as "Request Signatures" of Oracle's documentation has it, by the key and within five minutes. */
function isSigned({ headers, method = '', url = '' }: IncomingMessage, key: KeyObject): boolean {
  const { authorization = '', date = '', host = '' } = headers;
  const [scheme = ''] = authorization.split(' ', 1);
  const parts = new Map(
    [...authorization.slice(scheme.length).matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  const signed = ['date', '(request-target)', 'host'];
  const lines = [`date: ${date}`, `(request-target): ${method.toLowerCase()} ${url}`, `host: ${host}`];
  const signature = Buffer.from(parts.get('signature') ?? '', 'base64');
  return (
    scheme === 'Signature' &&
    parts.get('version') === '1' &&
    parts.get('algorithm') === 'rsa-sha256' &&
    parts.get('keyId') === `${owner.tenancyId}/${owner.userId}/${owner.fingerprint}` &&
    parts.get('headers') === signed.join(' ') &&
    Math.abs(Date.parse(date) - Date.UTC(2026, 0, 1)) < 5 * 60_000 &&
    verify('sha256', Buffer.from(lines.join('\n')), key, signature)
  );
}

/** An Object Storage that refuses whom it does not know, and answers the path of what it is asked for. */
function startObjectStorage(key = createPublicKey(privateKey)) {
  return startOrigin((request, response) => {
    if (!isSigned(request, key)) response.writeHead(401).end('{"code":"NotAuthenticated"}');
    else if (request.url?.includes('missing')) response.writeHead(404).end('{"code":"ObjectNotFound"}');
    else response.end(request.url);
  });
}

describe('the accounts of artifacts.oracle', () => {
  test.each([
    [{ namespace: '' }, 'namespace: expected letters'],
    [{ namespace: 'planted/../x' }, 'namespace: expected letters'],
    [{ region: 'planted.example.com/' }, 'region: expected letters'],
    [{ ...user, userId: 'pla"nted' }, 'expected tenancyId, userId, fingerprint'],
    [{ ...owner }, 'expected tenancyId, userId, fingerprint'],
    [{ sshPrivateKey: pem }, 'expected tenancyId, userId, fingerprint'],
    [{ ...user, sshPrivateKey: 'planted' }, 'expected an RSA private key as PEM'],
    [{ ...user, sshPrivateKey: ecKey }, 'expected an RSA private key as PEM'],
    [{ ...user, sshPrivateKey: encrypted }, 'expected an RSA private key as PEM'],
    [{ ...user, sshPrivateKey: encrypted, privateKeyPassphrase: 'planted' }, 'expected an RSA private key'],
    [{ ...user, sshPrivateKeyFilePath: '/planted' }, 'expected sshPrivateKeyFilePath or sshPrivateKey'],
    [{ ...owner, sshPrivateKeyFilePath: '/nowhere/planted' }, 'sshPrivateKeyFilePath: the file cannot be'],
    [{ apiEndpoint: 'planted' }, 'apiEndpoint: expected an http or https URL'],
  ])('are rejected with what cannot be used', (account, reason) => {
    expectRejected(open(account), reason);
  });

  test('are rejected for files when deployed', () => {
    const account = { ...owner, sshPrivateKeyFilePath: '/x' };
    expect(open(account, { placement: 'deployed' }).rejectedAccounts[0]?.reason).toContain(
      'sshPrivateKeyFilePath: deployed functions read no files, give the value itself',
    );
  });
});

describe('fetching oracle/object', () => {
  test.each([
    ['oci://configs/web.yml', '/n/acme/b/configs/o/web.yml'],
    ['configs/a b/ü?*.yml', '/n/acme/b/configs/o/a%20b%2F%C3%BC%3F*.yml'],
    ['oci://My_configs.x/a#b#8a3f-2F', '/n/acme/b/My_configs.x/o/a%23b?versionId=8a3f-2F'],
    ['oci://configs/../x', '/n/acme/b/configs/o/..%2Fx'],
  ])('signs the request for %s', async (reference, path) => {
    await using storage = await startObjectStorage();
    expect(await fetchObject({ apiEndpoint: storage.url, ...user }, reference)).toBe(path);
  });

  test('takes the key from a file, with a passphrase', async () => {
    await using dir = await makeTempDir();
    await using storage = await startObjectStorage();
    const sshPrivateKeyFilePath = join(dir.path, 'key.pem');
    await writeFile(sshPrivateKeyFilePath, encrypted);
    const account = { ...owner, sshPrivateKeyFilePath, privateKeyPassphrase: passphrase };
    expect(await fetchObject({ apiEndpoint: storage.url, ...account }, 'oci://configs/a')).toContain('/o/a');
  });

  /** Secrets by a word that their references have. */
  function createServices(texts: ReadonlyMap<string, string>) {
    const follow = async (reference: object) => {
      const [, text = ''] = [...texts].find(([word]) => JSON.stringify(reference).includes(word)) ?? [];
      return { text, versionId: '1', asOfMs: 0, readAgainAtMs: Number.MAX_VALUE };
    };
    return { services: { secrets: { follow, read: async () => '', readRoles: async () => undefined } } };
  }

  const referring = {
    ...{ ...owner, sshPrivateKey: 'encrypted:ssm!n:key' },
    privateKeyPassphrase: 'encrypted:ssm!n:word',
  };

  test('takes the key and its passphrase from secrets', async () => {
    await using storage = await startObjectStorage();
    const texts = new Map([
      ['key', encrypted],
      ['word', `${passphrase}\n`],
    ]);
    const read = () =>
      fetchObject({ apiEndpoint: storage.url, ...referring }, 'oci://configs/b', createServices(texts));
    expect(await read()).toContain('/o/b');
    texts.set('key', 'planted');
    const failure = await getFailure(read());
    expect(failure).toBeInstanceOf(FailedOperationError);
    expect(String(failure)).toContain('expected an RSA private key');
    expect(String(failure)).not.toContain('planted');
  });

  test('reads the key again when Oracle refuses it', async () => {
    const next = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await using storage = await startObjectStorage(next.publicKey);
    const texts = new Map([['key', pem]]);
    const clock = createTestClock();
    await using source = open(
      { ...referring, apiEndpoint: storage.url, privateKeyPassphrase: '' },
      { ...createServices(texts), clock },
    ).sources[0];
    const artifact = { type: 'oracle/object', reference: 'oci://configs/b' };
    await expect(source?.fetch(artifact, neverAborted())).rejects.toThrow('401 status code');
    clock.advance(11_000);
    texts.set('key', next.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    expect(await readText((await source?.fetch(artifact, neverAborted()))?.body)).toContain('/o/b');
  });

  test('goes to Oracle in the region', async () => {
    const account = { ...user, urlRestrictions: { allowedDomains: ['a.example.com'] } };
    await expect(fetchObject(account, 'oci://configs/a')).rejects.toThrow(
      "Host 'objectstorage.eu-frankfurt-1.oraclecloud.com' is not allowed",
    );
  });

  test.each([
    ...['', 'oci://planted', 'oci:///planted', 'oci://configs/', 'oci://configs/..', 'oci://../planted'],
    ...['oci://configs/x#planted&a=b', 'oci://configs/x#', 'oci://pl@nted/x'],
    ...['https://planted.example.com/x', `oci://configs/${'x'.repeat(2_048)}`],
  ])('refuses the reference %j', async (reference) => {
    await using storage = await startObjectStorage();
    const failure = await getFailure(fetchObject({ apiEndpoint: storage.url, ...user }, reference));
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(String(failure)).not.toContain('planted');
    expect(storage.connections).toBe(0);
  });

  test('tells what is missing from what is refused', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    await using storage = await startObjectStorage();
    await using foreign = await startObjectStorage(other);
    const fail = (apiEndpoint: string, reference: string) =>
      fetchObject({ apiEndpoint, ...user }, reference).catch((e) => e);
    expect(await fail(storage.url, 'oci://configs/missing')).toBeInstanceOf(NotFoundError);
    const refused = await fail(foreign.url, 'oci://configs/a');
    expect(refused).toBeInstanceOf(FailedOperationError);
    expect(String(refused)).toContain('401 status code from 127.0.0.1');
  });
});
