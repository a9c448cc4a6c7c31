import { listDisablingLabels as listLabels } from '../manifest/traffic.ts';
import { defineOperation } from './steps/operation-definition.ts';
import { trafficField, turnTraffic, validateTraffic } from './traffic.ts';

/** Removes a workload from its load balancers; it keeps running. */
export const disableManifest = defineOperation({
  name: 'disableManifest',
  purpose: 'takes a workload from its services',
  operationClass: 'KubernetesDisableManifestOperation',
  phase: 'DISABLE_MANIFEST',
  context: 'disableKubernetesManifest',
  schema: trafficField,
  validate: validateTraffic,
  async run(description, work) {
    await turnTraffic(description, { doing: 'Disabling', done: 'Disabled', listLabels }, work);
    return undefined;
  },
});
