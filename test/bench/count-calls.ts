import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { LocalEngines } from '#infra/local/local-engines.ts';

/**
 * Preloaded into the local runtime (`node --import`): counts the calls that it makes, by AWS operation or by Kubernetes
 * method, and answers the counts since the last question over IPC.
 */
const counts = new Map<string, number>();

/** Engines in the same process are called without a socket. */
subscribe('busdriver:engines', (message) => {
  const { hook } = message as LocalEngines;
  hook.around = ({ action }, perform) => {
    count(action);
    return perform();
  };
});

subscribe('http.client.request.start', (message) => {
  const { request } = message as { request: ClientRequest };
  countTarget(request.getHeader('x-amz-target'));
});

subscribe('undici:request:create', (message) => {
  const { request } = message as { request: { method: string } };
  count(`Kubernetes ${request.method}`);
});

process.on('message', () => {
  process.send?.(Object.fromEntries(counts));
  counts.clear();
});
// The question must not keep the process alive once its server has stopped.
process.channel?.unref();

function countTarget(target: unknown): void {
  if (typeof target === 'string') count(target.slice(target.indexOf('.') + 1));
}

function count(name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
