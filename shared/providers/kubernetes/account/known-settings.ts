import { kubernetesSettingPaths } from './account-settings.ts';
import { brokerOptions, settingsPath as brokersPath } from './token-brokers.ts';

/** Settings that Clouddriver or Halyard know and that are of no effect here: no kubectl is run, and Busdriver prefers no account. */
const idlePaths = [
  'kubernetes.bakeryDefaults',
  'kubernetes.primaryAccount',
  'kubernetes.cache.refreshFront50ApplicationsCacheIntervalInMs',
  'kubernetes.custom-property-binding-enabled',
  'kubernetes.jobExecutor',
  'kubernetes.kubectl',
  'kubernetes.oAuth',
];

/** All that is known of Kubernetes' settings. Accounts look at their keys themselves. */
export const knownSettings: readonly string[] = [
  'kubernetes.accounts',
  ...kubernetesSettingPaths,
  ...brokerOptions.map((option) => `${brokersPath}.*.${option}`),
  ...idlePaths,
];
