import { listEnablingLabels as listLabels } from '../manifest/traffic.ts';
import { defineOperation } from './steps/operation-definition.ts';
import { trafficField, turnTraffic, validateTraffic } from './traffic.ts';

/** Puts a workload behind its load balancers. */
export const enableManifest = defineOperation({
  name: 'enableManifest',
  purpose: 'puts a workload behind its services',
  operationClass: 'KubernetesEnableManifestOperation',
  phase: 'ENABLE_MANIFEST',
  context: 'enableKubernetesManifest',
  schema: trafficField,
  validate: validateTraffic,
  async run(description, work) {
    await turnTraffic(description, { doing: 'Enabling', done: 'Enabled', listLabels }, work);
    return undefined;
  },
});
