import { stringify } from 'yaml';
import { asJsonObject } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';

/** An object as YAML, as somebody would write it: without its status and what tells this very object from others of its name. */
export function formatObjectYaml({ status: _, ...object }: Manifest): string {
  const {
    uid: __,
    resourceVersion: ___,
    managedFields: ____,
    ...metadata
  } = asJsonObject(object['metadata']) ?? {};
  return stringify({ ...object, metadata }, { lineWidth: 0 });
}
