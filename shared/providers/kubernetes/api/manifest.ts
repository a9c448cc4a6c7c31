import type { JsonObject } from '#core/json.ts';

/** A Kubernetes object as JSON: `apiVersion`, `kind`, `metadata` and the members of its kind. */
export type Manifest = JsonObject;
