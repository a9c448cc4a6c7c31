import type { RequestListener } from 'node:http';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { HostServices } from '#provider-kit/host-services.ts';
import type { OpenSources } from '#providers/artifacts/download/source.ts';

/** What `testArtifactType` needs to know of a type of artifacts. */
export interface ArtifactTypeSample {
  /** What the type is, or how files are fetched where there are several ways. */
  readonly title: string;
  /** How accounts are opened: one of `kinds` in `shared/providers/artifacts/index.ts`. */
  readonly open: OpenSources;
  /** Spinnaker's type: `github/file`. */
  readonly type: string;
  /** All types that its accounts fetch. Default: this one. */
  readonly types?: readonly string[];
  /** References that none can have. They hold the word `planted` where an error could repeat it. */
  readonly malformed: readonly string[];
  /** How files come from servers. Left out for a type that calls none. */
  readonly remote?: RemoteType;
}

/** A type whose artifacts are files at URLs. */
export interface RemoteType {
  /** Key of its accounts below `artifacts`: `github`. */
  readonly kind: string;
  /** Members of every account besides its name. Default: none. */
  readonly account?: JsonObject;
  /** Members of an account that authenticates with a secret. */
  toCredentials(secret: string): JsonObject;
  /** The header that the secret is sent in, by its name in lower case, and its value. */
  toHeader(secret: string): readonly [name: string, value: string | RegExp];
  /** The reference of a file, a path without a slash at its start, at an origin. */
  toReference(origin: string, file: string): string;
  /** The artifact of a reference, for types that name it by other members as well. Default: the reference alone. */
  toArtifact?(reference: string): Artifact;
  /** Members of an account that name the server at an origin, for types whose references do not. */
  toServer?(origin: string): JsonObject;
  /** The text of a file in what is answered. Default: the answer is the file. */
  toText?(body: Uint8Array): Promise<string>;
  /** What the place of the process offers. Default: nothing. */
  readonly services?: HostServices;
  /** A server of the type, which has `sendFile` answer requests for files. Default: `sendFile` itself. */
  createListener?(sendFile: RequestListener): RequestListener;
}

/** The artifact that a reference stands for. */
export function toArtifact({ type, remote }: ArtifactTypeSample, reference: string): Artifact {
  return { type, ...(remote?.toArtifact?.(reference) ?? { reference }) };
}
