import { asJsonObject } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';

/** The object without the record of which manager owns which field: kubectl, and so Spinnaker, never shows it. */
export function omitManagedFields(object: Manifest): Manifest {
  const { managedFields: _, ...metadata } = asJsonObject(object.metadata) ?? {};
  return { ...object, metadata };
}
