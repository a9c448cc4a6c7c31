import { stringify } from 'yaml';
import { asJsonObject } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';

/** An object as YAML, as a user would write it: without its status and what identifies this particular object. */
export function formatObjectYaml({ status: _, ...object }: Manifest): string {
  const {
    uid: __,
    resourceVersion: ___,
    managedFields: ____,
    ...metadata
  } = asJsonObject(object['metadata']) ?? {};
  return stringify({ ...object, metadata }, { lineWidth: 0 });
}
