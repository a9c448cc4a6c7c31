import { describe, expect, it, vi } from 'vitest';
import { ConfigurationError } from '#core/errors.ts';
import type { Environment } from '#platform/config.ts';
import { areRequestsVerbose, isResponseStreaming, readConfig } from '#platform/config.ts';

const needed: Environment = {
  BUSDRIVER_TASKS_TABLE: 'tasks',
  BUSDRIVER_CACHE_TABLE: 'cache',
  BUSDRIVER_OPERATIONS_QUEUE_URL: 'https://sqs.example.com/operations',
  BUSDRIVER_AGENTS_QUEUE_URL: 'https://sqs.example.com/agents',
  BUSDRIVER_BUS_NAME: 'bus',
};

const chosen: Environment = {
  ...needed,
  BUSDRIVER_ACCOUNTS_TABLE: 'accounts',
  BUSDRIVER_AGENT_STREAMS_QUEUE_URL: 'https://sqs.example.com/agent-streams',
  BUSDRIVER_CONFIG_FILES: '["/etc/spinnaker", "/etc/more.yml"]',
  BUSDRIVER_CONFIG_SECRET_ARN: 'config-arn',
  BUSDRIVER_ARTIFACTS_SECRET_ARN: 'artifacts-arn',
  ARTIFACTS_CREDENTIALS_CONFIG_DIR: '/opt/spinnaker/artifacts/config',
  BUSDRIVER_AUTHORIZER_SECRET_ARN: 'authorizer-arn',
  BUSDRIVER_AGENT_KEY_FILE: '/var/busdriver/agent-sessions.jwk',
  BUSDRIVER_AGENT_KEY_ARN: 'arn:aws:kms:eu-west-1:123456789012:key/one',
  BUSDRIVER_AGENT_AUDIENCE: 'busdriver:prod',
  BUSDRIVER_HINTS_URL: 'wss://hints.example.com/live',
  BUSDRIVER_PROFILES: 'local, prod,',
  BUSDRIVER_KUBECONFIG: '/home/ada/.kube/config',
  BUSDRIVER_PLACEMENT: 'local',
  BUSDRIVER_ENGINE_ACCESS_KEY_ID: 'id',
  BUSDRIVER_ENGINE_SECRET_ACCESS_KEY: 'key',
  BUSDRIVER_LOCAL_MANAGERS: 'off',
  BUSDRIVER_LOG_LEVEL: 'DEBUG',
  BUSDRIVER_AGENT_INTERVAL_SECONDS: '120',
  BUSDRIVER_REMEMBERED_MIB: '1024',
  VERBOSE_REQUEST_LOGGING: 'true',
};

describe('the configuration of a function', () => {
  it('has a default for what need not be set', () => {
    expect(readConfig(needed)).toMatchObject({
      tasksTable: 'tasks',
      cacheTable: 'cache',
      operationsQueueUrl: 'https://sqs.example.com/operations',
      agentsQueueUrl: 'https://sqs.example.com/agents',
      accountsTable: '',
      agentStreamsQueueUrl: '',
      busName: 'bus',
      configFiles: [],
      profiles: ['local'],
      configSecretArn: undefined,
      artifactsSecretArn: undefined,
      artifactsConfigDir: undefined,
      authorizerSecretArn: undefined,
      agentKeyFile: undefined,
      agentKeyArn: undefined,
      agentAudience: undefined,
      hintsUrl: undefined,
      servesAgents: false,
      kubeconfig: undefined,
      engineCredentials: undefined,
      isReplicated: false,
      placement: 'deployed',
      agentIntervalMs: 30_000,
      rememberedMib: 32,
      localManagers: 'on',
      logLevel: 'INFO',
    });
  });

  it('has every variable that is set', () => {
    expect(readConfig(chosen)).toMatchObject({
      accountsTable: 'accounts',
      agentStreamsQueueUrl: 'https://sqs.example.com/agent-streams',
      configFiles: ['/etc/spinnaker', '/etc/more.yml'],
      profiles: ['local', 'prod'],
      configSecretArn: 'config-arn',
      artifactsSecretArn: 'artifacts-arn',
      artifactsConfigDir: '/opt/spinnaker/artifacts/config',
      authorizerSecretArn: 'authorizer-arn',
      agentKeyFile: '/var/busdriver/agent-sessions.jwk',
      agentKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/one',
      agentAudience: 'busdriver:prod',
      hintsUrl: 'wss://hints.example.com/live',
      servesAgents: true,
      kubeconfig: '/home/ada/.kube/config',
      engineCredentials: { accessKeyId: 'id', secretAccessKey: 'key' },
      placement: 'local',
      agentIntervalMs: 120_000,
      rememberedMib: 1024,
      localManagers: 'off',
      logLevel: 'DEBUG',
      verboseRequests: true,
    });
  });

  it.each([
    ...Object.keys(needed).map((name) => [name, '', 'must be set'] as const),
    ['BUSDRIVER_CONFIG_FILES', '/etc/spinnaker', 'must be a JSON array of paths'],
    ['BUSDRIVER_CONFIG_FILES', '[1]', 'must be a JSON array of paths'],
    ['BUSDRIVER_PLACEMENT', 'cloud', "must be one of deployed, local, not 'cloud'"],
    ['BUSDRIVER_ENGINE_ACCESS_KEY_ID', '', 'must be set'],
    ['BUSDRIVER_ENGINE_SECRET_ACCESS_KEY', '', 'must be set'],
    ['BUSDRIVER_LOCAL_MANAGERS', 'no', "must be one of on, off, not 'no'"],
    ['BUSDRIVER_LOG_LEVEL', 'LOUD', "must be one of INFO, DEBUG, WARN, ERROR, SILENT, not 'LOUD'"],
    ['BUSDRIVER_AGENT_INTERVAL_SECONDS', '9', 'must be a whole number from 10 to 3600'],
    ['BUSDRIVER_AGENT_INTERVAL_SECONDS', '60s', 'must be a whole number from 10 to 3600'],
    ['BUSDRIVER_REMEMBERED_MIB', '0', 'must be a whole number from 1 to 1024'],
    ['BUSDRIVER_REMEMBERED_MIB', '1025', 'must be a whole number from 1 to 1024'],
    ['BUSDRIVER_REMEMBERED_MIB', '64MB', 'must be a whole number from 1 to 1024'],
  ] as const)('refuses %s=%j: it %s', (name, value, reason) => {
    const environment = { ...chosen, [name]: value };
    expect(() => readConfig(environment)).toThrow(
      new ConfigurationError(`environment variable ${name} ${reason}`),
    );
  });

  it('needs no credentials for engines in a replica, which then finds AWS as the SDK does; of a pair it needs both', () => {
    const replica = { ...needed, BUSDRIVER_PLACEMENT: 'local', BUSDRIVER_REPLICATED: 'true' };
    expect(readConfig(replica)).toMatchObject({ engineCredentials: undefined, isReplicated: true });
    expect(() => readConfig({ ...replica, BUSDRIVER_ENGINE_ACCESS_KEY_ID: 'id' })).toThrow(
      'environment variable BUSDRIVER_ENGINE_SECRET_ACCESS_KEY must be set',
    );
  });

  it('tells everything that is wrong together', () => {
    const environment = { ...needed, BUSDRIVER_BUS_NAME: '', BUSDRIVER_PLACEMENT: 'cloud' };
    expect(() => readConfig(environment)).toThrow(/BUSDRIVER_BUS_NAME must be set; .*BUSDRIVER_PLACEMENT/);
  });
});

it('answers are streamed where Lambda offers it, unless BUSDRIVER_RESPONSE_STREAMING is false', () => {
  vi.stubGlobal('awslambda', { streamifyResponse: () => undefined });
  expect(isResponseStreaming({})).toBe(true);
  expect(isResponseStreaming({ BUSDRIVER_RESPONSE_STREAMING: 'false' })).toBe(false);
  vi.stubGlobal('awslambda', undefined);
  expect(isResponseStreaming({})).toBe(false);
  vi.unstubAllGlobals();
});

it.each([
  ['true', true],
  ['TRUE ', true],
  ['false', false],
  [undefined, false],
])('requests are logged where VERBOSE_REQUEST_LOGGING is %j: %j', (value, isVerbose) => {
  expect(areRequestsVerbose({ VERBOSE_REQUEST_LOGGING: value })).toBe(isVerbose);
});
