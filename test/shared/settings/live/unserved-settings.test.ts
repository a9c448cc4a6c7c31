import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unservedSections } from '#settings/live/known-settings.ts';
import { loadSettings, parseSettings } from '#settings/live/settings.ts';
import { findUnservedSettings, unknownSettingsToldMax } from '#settings/live/unserved-settings.ts';
import { keyLengthMax } from '#settings/nearest-key.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

/** What is told of one YAML text: reasons of what is left out, then those of warnings. */
function find(yaml: string, environment = {}) {
  const texts = [{ file: 'clouddriver.yml', text: yaml, isKubeconfig: false }];
  const { settings } = parseSettings(texts, { profiles: ['local'], environment });
  const { rejectedAccounts, warnings } = findUnservedSettings(settings, [yaml]);
  return {
    rejected: rejectedAccounts,
    reasons: warnings.map(({ reason }) => reason),
    all: [...rejectedAccounts, ...warnings].map(({ reason }) => reason),
  };
}

describe('a section with accounts that this release does not serve', () => {
  test('is one account left out, which names the section and its accounts', () => {
    const yaml = `
aws:
  enabled: true
  accounts:
    - {name: prod, accountId: planted}
    - {accountId: planted}
azure: {enabled: true, accounts: [{name: modules}]}
google.accounts[0].name: gce
`;
    const { rejected, reasons } = find(yaml);
    const unserved = (name: string, told: string) => ({
      ...{ name, isUnserved: true },
      reason: `${name}.accounts: this release does not serve ${told}`,
    });
    expect(rejected).toEqual([
      unserved('aws', 'Amazon EC2: left out are prod and 1 more'),
      unserved('azure', 'Microsoft Azure: left out are modules'),
      unserved('google', 'Google Compute Engine: left out are gce'),
    ]);
    expect(reasons).toEqual([]);
  });

  test('is a warning where it is switched on without accounts', () => {
    expect(find('aws.enabled: yes\nazure: {enabled: "true"}\n').all).toEqual([
      'aws.enabled: this release does not serve Amazon EC2',
      'azure.enabled: this release does not serve Microsoft Azure',
    ]);
  });

  test('is nothing to tell where it is switched off, or holds defaults, as Halyard and Clouddriver write it', () => {
    const yaml = `
aws: {enabled: false, accounts: [{name: default}], defaults: {iamRole: BaseIAMRole}}
azure: {enabled: '\${AZURE_ENABLED:false}', accounts: [{name: azure-cred1}]}
google: {bakeryDefaults: {baseImages: []}, accounts: []}
ecs:
artifacts: {gcs: {enabled: off, accounts: [{name: a}]}, templates: []}
`;
    expect(find(yaml).all).toEqual([]);
    expect(find(yaml, { AZURE_ENABLED: 'true' }).rejected).toMatchObject([{ name: 'azure' }]);
  });

  test('may stand in a profile, which counts if it is active', () => {
    const yaml = (profile: string) => `
kubernetes: {enabled: true}
---
spring.profiles: ${profile}
ecs: {enabled: true, accounts: [{name: fargate}]}
`;
    expect(find(yaml('prod')).all).toEqual([]);
    expect(find(yaml('local')).rejected).toMatchObject([{ name: 'ecs' }]);
  });
});

test.each(unservedSections)(
  '$path is one warning where it is switched on, and none where it is off',
  (section) => {
    const { path, what, hasSwitchesBelow } = section;
    const place = hasSwitchesBelow ? path : `${path}.enabled`;
    const yaml = `${place}${hasSwitchesBelow ? '.some.Name.enabled' : ''}: true`;
    expect(find(yaml).all).toEqual([`${place}: this release does not serve ${what}`]);
    expect(find(`${path}.enabled: false`).all).toEqual([]);
  },
);

test('a list of plug-ins or stores is told where one of them is switched on', () => {
  const yaml = `
spinnaker:
  extensibility:
    repositories: {}
    plugins: {Armory.Kubesvc: {enabled: true}, Other.Plugin: {enabled: false}}
artifact-store: {enabled: false, s3: {bucket: b, enabled: true}}
`;
  expect(find(yaml).all).toEqual([
    "spinnaker.extensibility.plugins: this release does not serve Spinnaker's plug-ins",
  ]);
  expect(find('spinnaker: {extensibility: {plugins: {A.B: {enabled: false}}}}').all).toEqual([]);
});

describe("Spring's configuration server", () => {
  const served = (backend: string) =>
    expect.stringMatching(
      new RegExp(`^spring\\.cloud\\.config\\.server\\.${backend}: no .* --config .* POST /credentials$`),
    );

  test('is told with each place that it would have accounts from, and what to do', () => {
    const yaml = `
spring:
  profiles: {include: 'git,vault'}
  cloud.config.server: {git: {uri: planted}, vault: {host: planted}, encrypt: {enabled: false}}
`;
    expect(find(yaml).all).toEqual([served('git'), served('vault')]);
    expect(find(`${yaml}\n  cloud.config.enabled: false\n`).all).toEqual([]);
  });

  test('is read where Clouddriver reads it: in spinnakerconfig.yml', async () => {
    await using temp = await makeTempDir();
    await writeFile(join(temp.path, 'clouddriver.yml'), 'kubernetes: {enabled: true}');
    await writeFile(join(temp.path, 'spinnakerconfig.yml'), 'spring.cloud.config.server.vault.host: planted');
    const { settings } = await loadSettings({ files: [temp.path], profiles: ['local'], environment: {} });
    expect(findUnservedSettings(settings, []).warnings.map(({ reason }) => reason)).toEqual([
      served('vault'),
    ]);
  });
});

describe('a setting that nobody knows', () => {
  test.each([
    ['kubernets: {enabled: true}', 'kubernets', 'kubernetes'],
    ['kubernetes: {cache: {cacheKind: [pod]}}', 'kubernetes.cache.cacheKind', 'cacheKinds'],
    ['kubernetes.zebra: 1', 'kubernetes.zebra', undefined],
    ['busdriver: {authorisation: {reads: on}}', 'busdriver.authorisation', 'authorization'],
    ['services: {fiatt: {enabled: true}}', 'services.fiatt', 'fiat'],
    ['services.front50.base-urll: http://x', 'services.front50.base-urll', 'baseUrl'],
    ['services: {fiat: {cache: {maxEntrys: 3}}}', 'services.fiat.cache.maxEntrys', 'maxEntries'],
    ['credentials: {primaryAccountType: [a]}', 'credentials.primaryAccountType', 'primaryAccountTypes'],
    ['artifacts: {htp: {enabled: true}}', 'artifacts.htp', 'http'],
    [
      'artifacts: {http: {accounts: [{name: a}, {name: b, usrname: u}]}}',
      'artifacts.http.accounts[1].usrname',
      'username',
    ],
    ['account: {storrage: {enabled: true}}', 'account.storrage', 'storage'],
  ])('is told with its path, and the setting that it comes nearest to: %s', (yaml, path, nearest) => {
    const advice = nearest === undefined ? '' : `: did you mean '${nearest}'?`;
    expect(find(yaml).all).toEqual([`${path}: unknown, and of no effect${advice}`]);
  });

  test('is not told where a placeholder names it: people keep values of their own', () => {
    const yaml = `
clusters: {home: /opt, other: {name: a}}
services: {lab: {host: lab-1}}
unheard: 1
kubernetes.accounts: [{name: a, kubeconfigFile: '\${Clusters.home:x}/\${services.lab.host}'}]
`;
    expect(find(yaml).all).toEqual(['unheard: unknown, and of no effect']);
  });

  test('is not told in any spelling of Spring of a known one', () => {
    const yaml = `
KUBERNETES: {LOAD_NAMESPACES_IN_ACCOUNT: true, v2: {applyAppLabels: true}, artifactBinding.dockerImage: match-name-only}
credentials.primary-account-types: [a]
artifacts: {git-hub: {enabled: false, accounts: [{Name: a, use-content-api: true, github_app: {appId: 1}}]}}
ok-http-client: {readTimeoutMs: 1}
`;
    expect(find(yaml).all).toEqual([]);
  });
});

test.each([
  ...['spring', 'halyard/staging', 'halyard/config', 'operator/spinnakerservice.yml'],
  ...['kustomize/clouddriver-config.yml'],
])('what installers and people write is told nothing of: %s', async (path) => {
  const options = { files: [join('test/fixtures/config', path)], profiles: ['local'], environment: {} };
  const { settings } = await loadSettings(options);
  const { rejectedAccounts, warnings } = findUnservedSettings(settings, [`$${'{clusters.home}'}`]);
  expect([...rejectedAccounts, ...warnings]).toEqual([]);
});

test('Spring, Clouddriver and other services have settings that are of no effect without a word', () => {
  const yaml = `
server: {port: 7002, ssl: {enabled: false}}
redis: {connection: redis://localhost, poll.intervalSeconds: 30}
sql: {enabled: true, connectionPools: {default: {jdbcUrl: x}}}
spectator.webEndpoint.enabled: true
management: {endpoints: {web: {exposure: {include: '*'}}}}
logging.level.root: INFO
default.account.env: default
credentials: {challengeDestructiveActionsEnvironments: [prod], poller: {enabled: true}}
okHttpClient.readTimeoutMs: 60000
services: {gate: {baseUrl: http://gate}, fiat: {enabled: false, healthEndpoint: /health, env: {}, host: 0.0.0.0, externalUrl: x}}
jobs: {local: {timeoutMinutes: 5, someThreads: 3}, other: 1}
kubernetes: {primaryAccount: a, kubectl: {executable: k}, jobExecutor: {retries: {enabled: true}}}
`;
  expect(find(yaml).all).toEqual([]);
});

describe('of a hostile or huge configuration', () => {
  test('some are told, and how many more there are, within a second', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `zz${index}`);
    const settings = Object.fromEntries(keys.map((key) => [key, 1]));
    const before = process.threadCpuUsage();
    const { warnings } = findUnservedSettings(settings, [`$${'{a}'}`.repeat(50_000)]);
    expect(process.threadCpuUsage(before).user).toBeLessThan(5_000_000);
    expect(warnings).toHaveLength(unknownSettingsToldMax + 1);
    expect(warnings.at(-1)?.reason).toBe(`${20_000 - unknownSettingsToldMax} more settings are unknown`);
  });

  test('what looks like other services takes no time, either', () => {
    const keys = Array.from({ length: 400_000 }, (_, index) => `${'maxEntries'.repeat(5)}-${index}`);
    const members = Object.fromEntries(keys.map((key) => [key, 1]));
    const before = process.threadCpuUsage();
    expect(findUnservedSettings({ services: { fiat: members } }, []).warnings).toEqual([]);
    expect(process.threadCpuUsage(before).user).toBeLessThan(5_000_000);
  });

  test('each reason is short, and holds no value', () => {
    const name = 'n'.repeat(100_000);
    const accounts = Array.from({ length: 1_000 }, () => ({ name, password: 'planted' }));
    const settings = { [name]: 'planted', aws: { accounts }, kubernetes: { [name]: { token: 'planted' } } };
    const { rejectedAccounts, warnings } = findUnservedSettings(settings, []);
    const reasons = [...rejectedAccounts, ...warnings].map(({ reason }) => reason);
    expect(reasons).toHaveLength(3);
    for (const reason of reasons) expect(reason.length).toBeLessThan(8 * keyLengthMax);
    expect(reasons[0]).toMatch(/ and 995 more$/);
    expect(JSON.stringify(reasons)).not.toContain('planted');
  });
});
