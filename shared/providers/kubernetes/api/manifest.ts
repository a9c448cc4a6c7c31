import type { JsonObject } from '#core/json.ts';

/** The metadata of a Kubernetes object that we read. */
export interface ManifestMetadata extends JsonObject {
  name: string;
}

/** A Kubernetes object as JSON: `apiVersion`, `kind`, `metadata` and the members of its kind. */
export type Manifest = JsonObject;
