import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { systemClock } from '#platform/services/system.ts';
import { AuthorizationSettingsError } from '#settings/live/authorization-settings.ts';
import { type LoadedSettings, loadSettings } from '#settings/live/settings.ts';
import { createSettingsSecret } from '#settings/live/settings-secret.ts';
import { getSetting } from '#settings/spring-config.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { createTestHost } from '#test/support/services/test-host.ts';

const fixtures = resolve('test/fixtures/config');
const planted = 'planted-s3cr3t-value';
const arn = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:busdriver-prod-config-AbCdEf';

let aws: AwsEndpoints;

beforeEach(async () => {
  aws = await startAwsEndpoints();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await aws[Symbol.asyncDispose]();
});

/** Loads the settings of the secret, on top of files if there are any. */
function load(files: readonly string[] = [], environment: Record<string, string> = {}) {
  const secret = createSettingsSecret(arn, createTestHost({ clock: systemClock }).secrets);
  return loadSettings({ files, secret, profiles: ['local'], environment });
}

function loadText(text: string, environment: Record<string, string> = {}): Promise<LoadedSettings> {
  aws.secrets.set(arn, { SecretString: text });
  return load([], environment);
}

function namesOf({ settings }: LoadedSettings): unknown[] {
  return (getSetting(settings, 'kubernetes.accounts') as JsonObject[]).map(({ name }) => name);
}

describe('settings in a secret', () => {
  test.each([
    ['spring/clouddriver-prod.yml', ['production']],
    ['halyard/config', ['blue-eu']],
    ['operator/spinnakerservice.yml', ['in-cluster', 'remote', 'nested']],
    ['kustomize/clouddriver-config.yml', ['from-secret']],
  ])('have the form of %s', async (file, names) => {
    expect(namesOf(await loadText(await readFile(`${fixtures}/${file}`, 'utf8')))).toEqual(names);
  });

  test('may be bytes', async () => {
    const text = 'kubernetes: {accounts: [{name: ü}]}';
    aws.secrets.set(arn, { SecretBinary: Buffer.from(text).toString('base64') });
    expect(namesOf(await load())).toEqual(['ü']);
  });

  test('may stand in several documents, some for other profiles, with placeholders', async () => {
    const text = [
      `kubernetes: {accounts: [{name: a, context: "\${CLUSTER:none}"}]}`,
      'spring.config.activate.on-profile: local\nkubernetes: {enabled: true}',
      'spring.config.activate.on-profile: prod\nkubernetes: {enabled: false}',
    ].join('\n---\n');
    const { settings } = await loadText(text, { CLUSTER: 'c1' });
    expect(settings['kubernetes']).toEqual({ enabled: true, accounts: [{ name: 'a', context: 'c1' }] });
  });

  test.each(['', '# Put your clouddriver.yml here.\n', '---\n'])('may be none at all: %j', async (text) => {
    expect((await loadText(text)).settings).toEqual({});
  });

  test('win over those of files', async () => {
    aws.secrets.set(arn, { SecretString: 'kubernetes: {primaryAccount: mine}' });
    const loaded = await load([`${fixtures}/spring/clouddriver-prod.yml`]);
    expect(namesOf(loaded)).toEqual(['production']);
    expect(getSetting(loaded.settings, 'kubernetes.primaryAccount')).toBe('mine');
    expect(loaded.locate('kubernetes.primaryAccount')).toBe('secret busdriver-prod-config:1');
  });

  test.each([
    [`a: 1\nb: ${planted}: 2`, 'secret busdriver-prod-config:2:4: not YAML: block as implicit key'],
    [planted, 'secret busdriver-prod-config:1:1: expected a map of settings'],
    ['apiVersion: v1\nkind: Pod', 'secret busdriver-prod-config: holds no settings: expected'],
    [
      `services:\n  fiat:\n    enabled: true\n    baseUrl: ${planted}\n`,
      'secret busdriver-prod-config:4: services.fiat.baseUrl: expected an http or https URL',
    ],
  ])('that are of no use are refused by place and never quoted: %j', async (text, message) => {
    const error = (await loadText(text).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain(message);
    expect(error instanceof AuthorizationSettingsError).toBe(text.includes('fiat'));
    expect(JSON.stringify([error, error.stack, error.cause])).not.toContain(planted);
  });

  test.each([
    ['AccessDeniedException', 'allow secretsmanager:GetSecretValue on it'],
    ['ResourceNotFoundException', 'check its name and its region'],
  ])('that cannot be read say what to do: %s', async (code, advice) => {
    aws.secrets.set(arn, { status: 400, code, message: 'No.' });
    await expect(load()).rejects.toThrow(
      new RegExp(`^cannot read the secret ${arn} in eu-west-1: ${code}: No\\.: ${advice}`),
    );
  });
});

test('what is no name of a secret is refused by the variable', () => {
  const { secrets } = createTestHost({ clock: systemClock });
  expect(() => createSettingsSecret('my secret', secrets)).toThrow(
    'environment variable BUSDRIVER_CONFIG_SECRET_ARN: expected the name or ARN of a secret',
  );
});
