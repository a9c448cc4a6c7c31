import type { LiveReads } from '#provider-kit/live-reads.ts';
import type { KubernetesSession } from '../account/session.ts';
import { createInstanceReader } from './instance-reader.ts';
import { createJobReader } from './job-reader.ts';
import { createManifestReader } from './manifest-reader.ts';

/** Live reads of V2 accounts, through the clients of a session. */
export function openLiveReads(session: KubernetesSession): Required<LiveReads> {
  return {
    manifests: createManifestReader(session),
    jobs: createJobReader(session),
    instances: createInstanceReader(session),
  };
}
