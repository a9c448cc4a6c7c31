import { agentSettingPaths } from '../agent-settings.ts';
import { upstreamSettingPaths } from '../upstream-settings.ts';

/** A section of Spinnaker's configuration that this release does not serve. */
export interface UnservedSection {
  /** Where it stands. */
  readonly path: string;
  /** What it configures, in the words of a message: `this release does not serve …`. */
  readonly what: string;
  /** Whether any `enabled` below it turns it on; else its own, or a list of `accounts`, as in all of Clouddriver's providers. */
  readonly hasSwitchesBelow?: boolean;
}

/**
 * What people write down because they want it, and do not get. A section that comes to be served loses its line here, and the plug-in
 * that serves it names its settings in `knownSettings`.
 */
export const unservedSections: readonly UnservedSection[] = [
  { path: 'alicloud', what: 'Alibaba Cloud' },
  { path: 'appengine', what: 'Google App Engine' },
  { path: 'aws', what: 'Amazon EC2' },
  { path: 'azure', what: 'Microsoft Azure' },
  { path: 'cf', what: 'Cloud Foundry' },
  { path: 'cloudfoundry', what: 'Cloud Foundry' },
  { path: 'cloudrun', what: 'Google Cloud Run' },
  { path: 'dcos', what: 'DC/OS' },
  { path: 'ecs', what: 'Amazon ECS' },
  { path: 'gce', what: 'Google Compute Engine' },
  { path: 'google', what: 'Google Compute Engine' },
  { path: 'huaweicloud', what: 'Huawei Cloud' },
  { path: 'lambda', what: 'AWS Lambda' },
  { path: 'openstack', what: 'OpenStack' },
  { path: 'oracle', what: 'Oracle Cloud' },
  { path: 'oraclebmcs', what: 'Oracle Cloud' },
  { path: 'tencent', what: 'Tencent Cloud' },
  { path: 'tencentcloud', what: 'Tencent Cloud' },
  { path: 'titan', what: 'Titan' },
  { path: 'titus', what: 'Titus' },
  { path: 'yandex', what: 'Yandex Cloud' },
  { path: 'spinnaker.extensibility.plugins', what: "Spinnaker's plug-ins", hasSwitchesBelow: true },
];

/** Backends of Spring's configuration server, which has Clouddriver's settings elsewhere. Members of {@link configServerPath}. */
export const configServerBackends = [
  'git',
  'vault',
  'composite',
  'native',
  'jdbc',
  'redis',
  'awss3',
  'credhub',
];

/** Where the settings say what Spring's configuration server serves. */
export const configServerPath = 'spring.cloud.config.server';

/**
 * Paths of the settings that Busdriver reads, those of plug-ins aside, and of those that change nothing here although Clouddriver knows
 * them. What stands below a path is not looked at.
 */
export const ownSettings: readonly string[] = [
  'account.storage.enabled',
  // Who writes the store reads the same section: much of it is about that.
  'artifactStore',
  'busdriver.accounts.allowMachineAccess',
  'busdriver.accounts.allowPlainSecrets',
  'busdriver.accounts.allowSecretsWithoutRoles',
  'busdriver.accounts.tokenBrokerHosts',
  'busdriver.accounts.writableWithoutFiat',
  ...agentSettingPaths,
  'busdriver.authorization.reads',
  'busdriver.checkApplication',
  'busdriver.identity',
  'busdriver.log.allowVerboseDeployed',
  'busdriver.log.requests',
  'busdriver.operations.clusterWaitSeconds',
  'busdriver.tokenBrokers',
  ...upstreamSettingPaths,
  'credentials.challengeDestructiveActionsEnvironments',
  'credentials.primaryAccountTypes',
  // Files and secrets are always followed.
  'credentials.poller',
  'redis',
  'sql',
];

/** Members of `services`: those that Spinnaker, its installers and add-ons know. Plug-ins name what they read of some. */
export const serviceNames: readonly string[] = listWords(`
  bakery clouddriver clouddriverBootstrap clouddriverCaching clouddriverRo clouddriverRoDeck clouddriverRw consulClient consulServer deck
  default dinghy docker echo echoScheduler echoSlave echoWorker eureka gate igor jenkins kayenta keel monitoringDaemon orca orcaBootstrap
  platform redis redisBootstrap rosco rush spectator stackdriver swabbie terraformer vaultClient vaultServer
`);

/**
 * Sections of Spring, of Clouddriver's way to run, and of other services that read the same files, by what they are: they say nothing
 * about what Busdriver does, and are of no effect without a word.
 */
export const idleSections: readonly { readonly what: string; readonly names: readonly string[] }[] = [
  {
    what: 'Spring, Java and libraries',
    names: listWords(`
      cors debug endpoints eureka executors health hystrix info jasypt logging management micrometer resilience4j ribbon security server
      spring springdoc ssl swagger trace
    `),
  },
  {
    what: 'how Clouddriver keeps, calls and measures things',
    names: listWords(`
      bastion cache cacheRefresh caching cats default discovery docker dynamicConfig dynomite edda elasticSearch entityTags feature
      featureFlags features http metrics monitoring okHttp okHttp3 okHttpClient operations reservations retrofit retrofit2 serviceLimits
      shutdown spectator stackdriver taskRepository tasks udf
    `),
  },
  { what: 'secrets of other services', names: listWords('secret secrets vault') },
  {
    what: 'other services, installers and add-ons',
    names: listWords(`
      armory artifactory bakery canary ci codebuild concourse deck deployment deploymentEnvironment diagnostics echo email fiat gate gcb
      global igor integrations jenkins kayenta keel kubesvc ldap mail name nexus notifications oauth2 opa orca persistentStorage
      pipelineTemplates policyEngine pollers providers pubsub quietPeriod repository rosco saml scheduler slack spinnaker stats templates
      timezone travis version webhook webhooks wercker x509
    `),
  },
];

/** Sections with much that has no name here: of their members only what looks misspelt is told. A `*` stands for any key. */
export const sharedSections: readonly string[] = ['jobs', 'jobs.local', 'services.*'];

function listWords(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
