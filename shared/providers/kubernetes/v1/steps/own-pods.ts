import type { V1ReplicationController } from '@kubernetes/client-node';
import { getPath, isJsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked } from '../../api/unchecked.ts';
import { readOwners } from '../../manifest/identity.ts';
import { readUid } from '../../operations/steps/deletion.ts';
import { resources } from './resources.ts';
import type { V1Work } from './v1-operation.ts';

/** A live server group's pods, as the API server lists them: by name. */
export async function listOwnPods(
  live: Manifest,
  namespace: string,
  { client, run }: Pick<V1Work, 'client' | 'run'>,
): Promise<Manifest[]> {
  const uid = readUid(live);
  const labelSelector = formatSelector(live);
  const query = { resource: resources.Pod, namespace, labelSelector };
  const listed = await client.list(query, { signal: run.signal });
  return listed.filter((pod) => readOwners(pod).some((owner) => owner.uid === uid));
}

/** A ReplicationController's selector is a map of labels; other kinds' selectors contain one. */
function formatSelector(live: Manifest): string {
  const selector = asUnchecked<V1ReplicationController>(live).spec?.selector;
  const matched = getPath(selector, 'matchLabels');
  const labels: JsonValue | undefined = isJsonObject(matched) ? matched : selector;
  return isJsonObject(labels)
    ? Object.entries(labels)
        .map(([label, value]) => `${label}=${String(value)}`)
        .join(',')
    : '';
}
