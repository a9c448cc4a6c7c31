import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PodCluster } from '#infra/kubernetes/peers/pod-cluster.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import {
  type ScriptedServer,
  startScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { RecordedLog } from './pod.ts';

/** A pod whose API server answers as a test tells. */
export interface ScriptedPod {
  readonly server: ScriptedServer;
  readonly cluster: PodCluster;
  readonly log: RecordedLog;
}

/** Starts the server of a pod in the namespace `spinnaker`, whose token is `secret-token`. */
export async function startScriptedPod(stack: AsyncDisposableStack): Promise<ScriptedPod> {
  const server = stack.use(await startScriptedServer());
  const dir = stack.use(await makeTempDir());
  const files = { token: 'secret-token', namespace: 'spinnaker', 'ca.crt': server.authority.certificate };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(dir.path, name), text);
  const log = new RecordedLog();
  const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port) };
  const parts = { clock: systemClock, randomness: systemRandomness, log };
  const cluster = new PodCluster({ environment, serviceAccountDirectory: dir.path, ...parts });
  return { server, cluster: stack.use(cluster), log };
}
