import { accessKeys } from '#accounts/permissions.ts';
import { accountOptions, accountsPath, enabledPath } from './account-fields.ts';

/** What Halyard and the Operator write beside the options: it changes nothing here. */
const idleOptions = ['providerVersion', 'type'];

/** All that is known of the settings of Docker registries. */
export const knownSettings: readonly string[] = [
  enabledPath,
  'dockerRegistry.primaryAccount',
  ...[...accountOptions, ...accessKeys, ...idleOptions].map((option) => `${accountsPath}.*.${option}`),
];
