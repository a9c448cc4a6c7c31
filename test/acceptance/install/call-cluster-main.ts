import { text } from 'node:stream/consumers';
import { getErrorMessage } from '#core/errors.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import {
  createKubernetesClient,
  type KubernetesClientOptions,
} from '#providers/kubernetes/client/kubernetes-client.ts';

/** Of each account, its connection; and what they have in common. */
export interface ClusterCalls
  extends Pick<KubernetesClientOptions, 'environment' | 'serviceAccountDirectory'> {
  readonly connections: readonly KubernetesClientOptions['connection'][];
}

// Runs where nothing but the product and its packages is installed: reads `ClusterCalls` as JSON, prints how the call of each account ended.
const { connections, ...options }: ClusterCalls = JSON.parse(await text(process.stdin));
const log = { debug: () => {}, info: () => {}, warn: console.error, error: console.error };
const ends: { [account: string]: string } = {};
for (const connection of connections) {
  const parts = { clock: systemClock, randomness: systemRandomness, log, budget: { qps: 10, burst: 10 } };
  await using client = createKubernetesClient({ ...options, ...parts, connection });
  ends[connection.name] = await client.getJson('/version').then(() => 'answered', getErrorMessage);
}
console.log(JSON.stringify(ends));
