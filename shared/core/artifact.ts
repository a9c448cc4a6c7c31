import type { JsonObject } from './json.ts';

/**
 * Spinnaker's artifact. On the wire absent fields are left out, unknown incoming fields are folded into
 * `metadata`, and an incoming `kind` is ignored.
 */
export interface Artifact {
  readonly type?: string;
  readonly customKind?: boolean;
  readonly name?: string;
  readonly version?: string;
  readonly location?: string;
  readonly reference?: string;
  readonly metadata?: JsonObject;
  readonly artifactAccount?: string;
  readonly provenance?: string;
  readonly uuid?: string;
}
