import { asString, getPath } from '#core/json.ts';
import { readEnvironment } from '#platform/config.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { isOlder } from '#providers/kubernetes/api/resource-version.ts';
import { getResourceVersion, type ListPage } from '#providers/kubernetes/client/list-pages.ts';
import type { KubernetesConnection } from '#providers/kubernetes/credentials/connection.ts';
import type { WatchChange } from '#providers/kubernetes/watch/watch.ts';
import { WatchClient, type WatchClientOptions } from '#providers/kubernetes/watch/watch-client.ts';
import { silentLog } from '../client/client-setup.ts';
import type { Answer } from '../client/scripted-server.ts';

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
  return new WatchClient({
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

/** A copy of a kind's objects, kept up by what a catch-up or a watching tells. */
export class KeptKind {
  /** Name of each object, and its resource version. */
  readonly objects = new Map<string, string>();
  /** What was told that cannot be. */
  readonly mistakes: string[] = [];
  /** Of the list whose pages come. */
  #listed = '';

  readonly onPage = ({ items, resourceVersion }: ListPage): void => {
    if (resourceVersion !== this.#listed) this.objects.clear();
    this.#listed = resourceVersion;
    for (const item of items) this.objects.set(getName(item), getResourceVersion(item));
  };

  readonly onChanges = (changes: readonly WatchChange[]): void => {
    for (const { type, object } of changes) {
      const name = getName(object);
      const known = this.objects.get(name);
      if (known !== undefined && !isOlder(known, getResourceVersion(object)))
        this.mistakes.push(`${type} ${name}`);
      if (type === 'DELETED') this.objects.delete(name);
      else this.objects.set(name, getResourceVersion(object));
    }
  };

  /** Begins anew: the next list is a whole one. */
  forget(): void {
    this.#listed = '';
    this.objects.clear();
  }
}

function getName(object: unknown): string {
  return asString(getPath(object, 'metadata', 'name')) ?? '';
}
