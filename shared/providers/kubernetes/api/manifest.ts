import type { JsonObject } from '#core/json.ts';

/** Metadata of a Kubernetes object, as far as we read it. */
export interface ManifestMetadata extends JsonObject {
  name: string;
}

/** A Kubernetes object as JSON: `apiVersion`, `kind`, `metadata` and whatever the kind has. */
export type Manifest = JsonObject;
