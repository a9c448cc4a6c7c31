import { getPath } from '../../../../../shared/core/json.ts';
import type { KubernetesConnection } from '../../../../../shared/providers/kubernetes/client/connection.ts';
import type { WatchChange } from '../../../../../shared/providers/kubernetes/client/watch.ts';
import {
  createWatchClient,
  type WatchClient,
  type WatchClientOptions,
} from '../../../../../shared/providers/kubernetes/client/watch-client.ts';
import { readEnvironment } from '../../../../../shared/runtime/config.ts';
import { systemClock, systemRandomness } from '../../../../../shared/runtime/system.ts';
import { silentLog } from './client-setup.ts';
import type { Answer } from './scripted-server.ts';

export const configMaps = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
  builtIn: true,
} as const;

/** A watch client for a test. */
export function createTestWatchClient(
  connection: Partial<KubernetesConnection>,
  options: Partial<WatchClientOptions> = {},
): WatchClient {
  return createWatchClient({
    clock: systemClock,
    randomness: systemRandomness,
    log: silentLog,
    environment: readEnvironment(),
    ...options,
    connection: { name: 'prod', serviceAccount: false, placement: 'local', ...connection },
  });
}

/** An event of a watch, as a line of its stream. @param version name and resource version: `one@5` */
export function toLine(type: string, version: string, data = {}): string {
  const [name, resourceVersion] = version.split('@');
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, resourceVersion }, data };
  return `${JSON.stringify({ type, object })}\n`;
}

/** An error event of a watch. */
export function toErrorLine(code: number, reason: string): string {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: `${reason} says the watch`,
    reason,
    code,
  };
  return `${JSON.stringify({ type: 'ERROR', object: status })}\n`;
}

/** Answers with these parts of a stream, and ends it as it should. */
export function answerStream(...parts: (string | Buffer)[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const part of parts) response.write(part);
    response.end();
  };
}

/** Answers with these parts of a stream, and goes on for ever. */
export function answerOpenStream(...parts: string[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const part of parts) response.write(part);
  };
}

/** Answers a list of no objects at a resource version. */
export function answerList(resourceVersion: string): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ kind: 'ConfigMapList', metadata: { resourceVersion }, items: [] }));
  };
}

/** `ADDED one@5` */
export function toText({ type, object }: WatchChange): string {
  return `${type} ${getPath(object, 'metadata', 'name')}@${getPath(object, 'metadata', 'resourceVersion')}`;
}
