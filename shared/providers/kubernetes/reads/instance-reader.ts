import { NotFoundError } from '#core/errors.ts';
import type { InstanceReader } from '#provider-kit/live-reads.ts';
import type { KubernetesSession } from '../account/session.ts';
import { listConsoleOutput, readLog, readProperties } from './pod-logs.ts';
import { openNamespace, parseReadName } from './read-target.ts';

/**
 * Live reads of pods' output, through the clients of a session. A "file" is the log of a container; its route passes the bare name of the
 * pod.
 */
export function createInstanceReader(session: KubernetesSession): InstanceReader {
  return {
    getConsoleOutput: async ({ account, location, name }) => {
      const client = await openNamespace(session, { account, location });
      return listConsoleOutput(client, { location, pod: parsePodName(name) });
    },
    getFileContents: async ({ account, location, name: pod }, container) => {
      const client = await openNamespace(session, { account, location });
      return readProperties(() => readLog(client, { location, pod, container }));
    },
  };
}

/** @throws NotFoundError for an invalid name of a pod. */
function parsePodName(fullName: string): string {
  const { kind, name } = parseReadName(fullName);
  if (kind === 'pod') return name;
  throw new NotFoundError(`'${fullName}' names no pod: expected 'pod <name>'`);
}
