import type { KubernetesSession } from './account/session.ts';
import { createInstanceReader } from './reads/instance-reader.ts';
import { createJobReader } from './reads/job-reader.ts';
import { createManifestReader } from './reads/manifest-reader.ts';
import { joinV1Readers } from './v1/reads/live-readers.ts';

/** Live reads of accounts of both versions, through the clients of a session. */
export function openLiveReads(session: KubernetesSession) {
  return {
    manifests: createManifestReader(session),
    ...joinV1Readers(session, {
      jobs: createJobReader(session),
      instances: createInstanceReader(session),
    }),
  };
}
