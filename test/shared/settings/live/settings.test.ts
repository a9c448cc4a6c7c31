import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { parseFiatSettings } from '#providers/fiat/settings.ts';
import { loadSettings, parseSettings } from '#settings/live/settings.ts';
import { getSetting } from '#settings/spring-config.ts';

const fixtures = resolve('test/fixtures/config');
const secret = 'planted-s3cr3t-value';
const directories: string[] = [];

afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
});

/** Writes files into a new directory and answers its path. */
async function writeFiles(files: { readonly [name: string]: string }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'busdriver-settings-'));
  directories.push(directory);
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

interface LoadChanges {
  readonly profiles?: readonly string[];
  readonly environment?: Record<string, string>;
}

function load(file: string, { profiles = ['local'], environment = {} }: LoadChanges = {}) {
  return loadSettings({ files: [file], profiles, environment });
}

/** Loads one file with this text. */
async function loadText(text: string, changes: LoadChanges = {}) {
  return load(join(await writeFiles({ 'settings.yml': text }), 'settings.yml'), changes);
}

/** The message with which a text is refused, without the directory. */
async function refusalOf(text: string, changes: LoadChanges = {}): Promise<string> {
  const error = await loadText(text, changes).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(InvalidInputError);
  return (error as Error).message.replaceAll(/\S*busdriver-settings-\w+\//g, '');
}

function namesOf(settings: JsonObject): unknown[] {
  return (getSetting(settings, 'kubernetes.accounts') as JsonObject[]).map(({ name }) => name);
}

describe('a directory of Spring files', () => {
  test('is merged in the order of Spring: spinnaker, clouddriver, profile', async () => {
    const { settings } = await load(join(fixtures, 'spring'), { environment: { STAGE_CLUSTER: 'stage-7' } });
    expect(namesOf(settings)).toEqual(['staging', 'production']);
    const file = getSetting(settings, 'kubernetes.accounts[0].kubeconfigFile');
    expect(file).toBe('/opt/spinnaker/kubeconfigs/stage-7');
    expect(getSetting(settings, 'kubernetes.accounts[0].onlySpinnakerManaged')).toBe(true);
    expect(getSetting(settings, 'kubernetes.v2.apply-app-labels')).toBe(false);
    expect(getSetting(settings, 'kubernetes.v2.managed-by-suffix')).toBeUndefined();
    expect(getSetting(settings, 'credentials.primaryAccountTypes')).toEqual(['staging']);
    expect(getSetting(settings, 'server.port')).toBe('7002');
  });

  test('has other files and documents for other profiles', async () => {
    const { settings } = await load(join(fixtures, 'spring'), { profiles: ['local', 'prod'] });
    expect(namesOf(settings)).toEqual(['production']);
    expect(getSetting(settings, 'kubernetes.v2.managed-by-suffix')).toBe('-prod');
    const without = await load(join(fixtures, 'spring'), { profiles: [] });
    expect(namesOf(without.settings)).toEqual(['to-be-replaced']);
  });

  test('without a file that we read is refused', async () => {
    const directory = await writeFiles({ 'orca.yml': 'a: 1' });
    await expect(load(directory)).rejects.toThrow(
      `${directory}: expected one of the files spinnaker.yml, clouddriver.yml, spinnaker-local.yml, clouddriver-local.yml`,
    );
  });

  test('one file by its name is read whatever the profiles', async () => {
    const { settings } = await load(join(fixtures, 'spring', 'clouddriver-prod.yml'));
    expect(namesOf(settings)).toEqual(['production']);
  });

  test('several files are merged, later ones winning', async () => {
    const files = ['clouddriver.yml', 'clouddriver-prod.yml'].map((name) => join(fixtures, 'spring', name));
    const { settings } = await loadSettings({ files, profiles: [], environment: {} });
    expect(namesOf(settings)).toEqual(['production']);
    expect(getSetting(settings, 'kubernetes.primaryAccount')).toBe('staging');
  });
});

describe('files of other tools', () => {
  test("Halyard's generated files", async () => {
    const { settings } = await load(join(fixtures, 'halyard', 'staging'));
    expect(namesOf(settings)).toEqual(['spinnaker-ci']);
    expect(getSetting(settings, 'artifacts.github.accounts[0].name')).toBe('deploy-bot');
    expect(getSetting(settings, 'global.spinnaker.timezone')).toBe('America/Los_Angeles');
  });

  test("Halyard's own configuration: the current deployment", async () => {
    const { settings, locate } = await load(join(fixtures, 'halyard', 'config'));
    expect(namesOf(settings)).toEqual(['blue-eu']);
    expect(getSetting(settings, 'artifacts.http.accounts[0].name')).toBe('internal-http');
    expect(locate('kubernetes.accounts[0].context')).toMatch(/config:25$/);
    expect(locate('artifacts.http.enabled')).toMatch(/config:38$/);
  });

  test("Halyard's own configuration: a current deployment that is not there is refused", async () => {
    const text = 'currentDeployment: b\ndeploymentConfigurations:\n- name: a\n  providers: {}\n';
    expect(await refusalOf(text)).toMatch(/^settings\.yml: holds no settings/);
    expect((await loadText(text.replace('currentDeployment: b\n', ''))).settings).toEqual({});
  });

  test('one deployment of Halyard', async () => {
    const text = 'name: default\nversion: 1.30.0\nproviders:\n  kubernetes:\n    enabled: true\n';
    const { settings } = await loadText(text);
    expect(settings).toEqual({ kubernetes: { enabled: true } });
  });

  test("the Operator's SpinnakerService, its profile and its files", async () => {
    const { settings, locate } = await load(join(fixtures, 'operator', 'spinnakerservice.yml'));
    expect(namesOf(settings)).toEqual(['in-cluster', 'remote', 'nested']);
    expect(getSetting(settings, 'kubernetes.jobs.detailedPodStatus')).toBe(false);
    expect(getSetting(settings, 'credentials.primaryAccountTypes')).toEqual(['in-cluster']);
    expect(getSetting(settings, 'kubernetes.accounts[1]')).toEqual({
      name: 'remote',
      kubeconfigContents: 'apiVersion: v1\nkind: Config\ncurrent-context: remote\n',
    });
    expect(getSetting(settings, 'kubernetes.accounts[2].kubeconfigContents')).toContain(
      'current-context: nested',
    );
    expect(settings).not.toHaveProperty('deck');
    expect(locate('kubernetes.accounts[0].namespaces')).toMatch(/spinnakerservice\.yml:20$/);
    expect(locate('kubernetes.jobs.detailed-pod-status')).toMatch(/spinnakerservice\.yml:34$/);
  });

  test('ConfigMaps and Secrets with settings files, in the order of Spring', async () => {
    const { settings, locate } = await load(join(fixtures, 'kustomize', 'clouddriver-config.yml'));
    const accounts = [{ name: 'from-secret', kubeconfigFile: '/var/secrets/kubeconfig' }];
    expect(settings).toEqual({
      services: { fiat: { enabled: false } },
      kubernetes: { enabled: true, accounts },
    });
    expect(locate('kubernetes.accounts[0].kubeconfigFile')).toMatch(
      /clouddriver-config\.yml \(clouddriver-local\.yml\):4$/,
    );
  });

  test('Secrets in plain text and lists of objects', async () => {
    const stringData = { 'clouddriver-local.yml': 'kubernetes: {enabled: true}' };
    const items = [{ apiVersion: 'v1', kind: 'Secret', stringData }];
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    expect((await loadText(text)).settings).toEqual({ kubernetes: { enabled: true } });
  });

  test('Kubernetes objects without settings are refused', async () => {
    expect(await refusalOf('apiVersion: apps/v1\nkind: Deployment\n')).toMatch(
      /^settings\.yml: holds no settings: expected Spring's YAML, a halconfig, a SpinnakerService, /,
    );
  });
});

describe("Spring's dialect of YAML", () => {
  test.each([
    ['yes', true],
    ['Off', false],
    ['y', 'y'],
    ['n', 'n'],
    ['012', 10],
    ['012345678901', '012345678901'],
    ['0129', '0129'],
    ['12:30', '12:30'],
    ['2024-01-02', '2024-01-02'],
    ['~', null],
    ['"yes"', 'yes'],
  ])('%s is %j', async (text, expected) => {
    expect((await loadText(`a: ${text}`)).settings.a).toEqual(expected);
  });

  test('anchors and merge keys work', async () => {
    const text = 'x: &base {cacheThreads: 2}\naccounts:\n  - <<: *base\n    name: a\n';
    expect((await loadText(text)).settings.accounts).toEqual([{ cacheThreads: 2, name: 'a' }]);
  });

  test('as many aliases as there are accounts work, but none that multiply without end', async () => {
    const toAccount = (_: unknown, index: number) => `  - {<<: *base, name: a${index}, namespaces: *ns}`;
    const accounts = Array.from({ length: 400 }, toAccount);
    const text = `x: [&base {cacheThreads: 2}, &ns [b]]\nkubernetes.accounts:\n${accounts.join('\n')}`;
    const { settings } = await loadText(text);
    const last = { name: 'a399', cacheThreads: 2, namespaces: ['b'] };
    expect(getSetting(settings, 'kubernetes.accounts[399]')).toEqual(last);
    const levels = Array.from(
      { length: 9 },
      (_, level) => `- &l${level + 1} [${Array(9).fill(`*l${level}`).join(', ')}]`,
    );
    expect(await refusalOf(`a:\n- &l0 [x]\n${levels.join('\n')}`)).toBe(
      'settings.yml:1:1: aliases within aliases make it too large',
    );
  });

  test('nothing but comments is no settings, and no error', async () => {
    expect((await loadText('# kubernetes:\n---\n---\n')).settings).toEqual({});
  });

  test.each([
    [`a: 1\nb: ${secret}: 2`, 'settings.yml:2:4: not YAML: block as implicit key'],
    [`token: ${secret}\ntoken: b`, 'settings.yml:2:1: not YAML: duplicate key'],
    [`a: "${secret}`, 'settings.yml:1:25: not YAML: missing char'],
    [`a: *${secret}`, 'settings.yml:1:1: not YAML: an alias without its anchor'],
    [`a: 1\n---\n- ${secret}`, 'settings.yml:3:1: expected a map of settings'],
    [secret, 'settings.yml:1:1: expected a map of settings'],
  ])('%j is refused without quoting it', async (text, message) => {
    expect(await refusalOf(text)).toBe(message);
  });

  test('a broken file inside a ConfigMap is named', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\ndata:\n  clouddriver.yml: |\n    a: 1\n    a: 2\n';
    expect(await refusalOf(text)).toBe('settings.yml (clouddriver.yml):2:1: not YAML: duplicate key');
  });

  test('a file that is not there is named', async () => {
    const cannot = /^\/nowhere\/at-all\.yml: cannot be read: ENOENT/;
    await expect(load('/nowhere/at-all.yml')).rejects.toThrow(cannot);
  });
});

describe('Fiat', () => {
  const unusable = 'services.fiat.baseUrl: expected an http or https URL';

  test.each([
    ['services:\n  fiat:\n    enabled: true\n    baseUrl: x\n', `settings.yml:4: ${unusable}`],
    ['services.fiat: {enabled: "TRUE", baseUrl: x}', `settings.yml:1: ${unusable}`],
    ['services: {fiat: {enabled: maybe}}', 'settings.yml:1: services.fiat.enabled: expected true or false'],
    [
      'services: {fiat: {enabled: true, allowStaleSeconds: 900}}',
      'settings.yml:1: services.fiat.allowStaleSeconds: expected a whole number from 0 to 300, got 900',
    ],
  ])('%j is refused by place', async (text, message) => {
    expect(await refusalOf(text)).toContain(message);
  });

  test.each([
    ['services: {fiat: {enabled: true}}', {}],
    ['version: 1\nproviders: {}\nsecurity:\n  authz:\n    enabled: true\n', {}],
    ['a: 1', { SERVICES_FIAT_ENABLED: 'true' }],
    [
      'services: {fiat: {enabled: false}}',
      { SERVICES_FIAT_ENABLED: 'true', SERVICES_FIAT_BASEURL: 'http://fiat' },
    ],
    ['services: {fiat: {enabled: true}}', { SERVICES_FIAT_ENABLED: '' }],
  ])('is on by %j and %j', async (text, environment) => {
    const { settings } = await loadText(text, { environment });
    expect(parseFiatSettings(settings)?.baseUrl.href).toMatch(/^http:\/\/(localhost:7003|fiat)\/$/);
  });

  test.each([
    ['services: {fiat: {enabled: false}}', {}],
    ['services: {fiat: {enabled: }}', {}],
    ['services: {fiat: {baseUrl: x}}', {}],
    ['services: {fiat: {enabled: true}}', { SERVICES_FIAT_ENABLED: 'false' }],
  ])('is off by %j and %j', async (text, environment) => {
    const { settings } = await loadText(text, { environment });
    expect(parseFiatSettings(settings)).toBeUndefined();
  });

  test('the environment that is of no use is named', async () => {
    const environment = { SERVICES_FIAT_ENABLED: 'maybe' };
    expect(await refusalOf('a: 1', { environment })).toBe(
      'environment variable SERVICES_FIAT_ENABLED: services.fiat.enabled: expected true or false, got a string (not shown)',
    );
    const kubeconfig = join(fixtures, 'kubeconfig.yml');
    await expect(loadSettings({ files: [], profiles: [], environment, kubeconfig })).rejects.toThrow(
      'environment variable SERVICES_FIAT_ENABLED',
    );
  });

  test('a placeholder may turn it on', async () => {
    const { settings } = await load(join(fixtures, 'spring'), { environment: { FIAT_ENABLED: 'true' } });
    expect(parseFiatSettings(settings)?.baseUrl.href).toBe('http://spin-fiat:7003/');
  });
});

describe('how callers are known', () => {
  test('is refused by place when it is of no use, with all that is wrong of authorization', async () => {
    const text =
      'busdriver:\n  identity:\n    mod: signed\n  checkApplication: on\nservices.fiat: {enabled: true, baseUrl: x}\n';
    expect(await refusalOf(text)).toBe(
      'settings.yml:5: services.fiat.baseUrl: expected an http or https URL without user, query and fragment; ' +
        'settings.yml:2: busdriver.identity.mode: expected a value, got none; ' +
        'settings.yml:4: busdriver.checkApplication: expected off, report or enforce',
    );
  });
});

describe('locate', () => {
  test('finds the document whose word counts, and the nearest place above what is missing', async () => {
    const text =
      'kubernetes:\n  enabled: true\n  accounts:\n    - name: a\n---\nkubernetes.accounts[0].context: c\n';
    const { locate } = await loadText(text);
    expect(locate('kubernetes.enabled')).toMatch(/settings\.yml:2$/);
    expect(locate('kubernetes.accounts[0].context')).toMatch(/settings\.yml:6$/);
    expect(locate('kubernetes.accounts[0].name')).toMatch(/settings\.yml:6$/);
    expect(locate('artifacts')).toBeUndefined();
  });
});

describe('kubeconfigs', () => {
  const kubeconfig = join(fixtures, 'kubeconfig.yml');

  test('without files, each context is an account', async () => {
    const { settings } = await loadSettings({ files: [], profiles: [], environment: {}, kubeconfig });
    const accounts = ['kind-dev', 'arn:aws:eks:eu-west-1:012345678901:cluster/prod'].map((name) => {
      return { name, context: name, kubeconfigFile: kubeconfig };
    });
    expect(settings).toEqual({ kubernetes: { enabled: true, accounts } });
    expect(JSON.stringify(settings)).not.toContain('planted-kubeconfig-token');
  });

  test('contexts never join configured accounts', async () => {
    const files = [join(fixtures, 'spring', 'clouddriver-prod.yml')];
    const { settings } = await loadSettings({ files, profiles: [], environment: {}, kubeconfig });
    expect(namesOf(settings)).toEqual(['production']);
  });

  test('neither files nor kubeconfig: no settings', async () => {
    expect((await loadSettings({ files: [], profiles: [], environment: {} })).settings).toEqual({});
  });

  test('of several, those that exist are read', async () => {
    const options = { files: [], profiles: [], environment: {} };
    const { settings } = await loadSettings({ ...options, kubeconfig: `/nowhere/config:${kubeconfig}` });
    expect(namesOf(settings)).toHaveLength(2);
    const loading = loadSettings({ ...options, kubeconfig: '/nowhere/a:/nowhere/b' });
    await expect(loading).rejects.toThrow('no kubeconfig at /nowhere/a, /nowhere/b');
  });

  test('what is no kubeconfig is refused', () => {
    const text = { file: '/k', text: `token: ${secret}`, isKubeconfig: true };
    const refusal = new InvalidInputError('/k: contexts: expected a list, as in a kubeconfig');
    expect(() => parseSettings([text], { profiles: [], environment: {} })).toThrow(refusal);
  });
});
