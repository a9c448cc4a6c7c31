import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseGitHubApp } from '#providers/artifacts/git-repo/github-app.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

test('reads every key, whatever its spelling and type', () => {
  const app = parseGitHubApp(
    {
      'app-id': 123,
      'app-private-key': pkcs1,
      'app-installation-id': 456,
      'api-base-url': 'https://ghe.example.com/api/v3/',
      'allowed-organizations': [' Acme ', ''],
    },
    'githubApp',
    'deployed',
  );

  expect(app).toMatchObject({
    appId: '123',
    installationId: '456',
    apiBaseUrl: 'https://ghe.example.com/api/v3',
    allowedOrganizations: ['acme'],
  });
  expect(app.privateKey.equals(privateKey)).toBe(true);
});

test('reads the key from a file, and defaults to github.com', async () => {
  await using dir = await makeTempDir();
  const appPrivateKeyPath = path.join(dir.path, 'key.pem');
  await writeFile(appPrivateKeyPath, pkcs8);
  const app = parseGitHubApp({ appId: '1', appPrivateKeyPath }, 'githubApp', 'local');
  expect(app).toMatchObject({
    installationId: undefined,
    apiBaseUrl: 'https://api.github.com',
    allowedOrganizations: [],
  });
  expect(app.privateKey.equals(privateKey)).toBe(true);
});

test.each([
  [{ appPrivateKey: pkcs8 }, 'appId: expected a value'],
  [{ appId: '1' }, 'expected appPrivateKeyPath or appPrivateKey'],
  [{ appId: '1', appPrivateKey: 'planted' }, 'the private key cannot be read'],
  [{ appId: '1', appPrivateKeyPath: '/no/such/planted' }, 'the private key cannot be read'],
  [
    { appId: '1', appPrivateKey: elliptic.export({ type: 'pkcs8', format: 'pem' }).toString() },
    'the private key must be an RSA key',
  ],
  [
    { appId: '1', appPrivateKey: pkcs8, appInstallationId: '../planted' },
    'appInstallationId: expected a number',
  ],
  [{ appId: '1', appPrivateKey: pkcs8, apiBaseUrl: 'planted' }, 'apiBaseUrl: expected an http or https URL'],
  [
    { appId: '1', appPrivateKey: pkcs8, apiBaseUrl: 'file:///planted' },
    'apiBaseUrl: expected an http or https',
  ],
])('refuses what cannot work, without repeating it (%#)', (settings, message) => {
  const parse = () => parseGitHubApp(settings, 'githubApp', 'local');
  expect(parse).toThrow(`githubApp: ${message}`);
  expect(parse).not.toThrow('planted');
});
