import * as z from 'zod';
import type { Answer } from './answer.ts';

/** An artifact in an answer. */
export const artifactSchema = z
  .strictObject({
    type: z.string().optional().describe('`docker/image`, `kubernetes/configMap` …'),
    customKind: z.boolean(),
    name: z.string().optional(),
    version: z.string().optional(),
    location: z.string().optional().describe('Namespace of a Kubernetes artifact.'),
    reference: z.string().optional().describe('What a manifest refers to.'),
    metadata: z.record(z.string(), z.unknown()),
    artifactAccount: z.string().optional(),
    provenance: z.string().optional(),
    uuid: z.string().optional(),
  })
  .describe("Spinnaker's artifact.");

/** An artifact account. */
export const artifactAccountSchema = z
  .strictObject({
    name: z.string().min(1),
    type: z.string().min(1).describe("Id of the account's kind, such as `artifacts-github`."),
    types: z.array(z.string()).describe('Artifact types that it can fetch.'),
  })
  .describe('An artifact account.');

/** What stands in the artifact store. */
export const storedArtifactSchema = z
  .strictObject({ reference: z.string().describe('The content, in base 64.') })
  .describe("What stands in Spinnaker's artifact store.");

/** Spinnaker's artifact, as answers have it. */
export type ArtifactView = Answer<typeof artifactSchema>;

/** An artifact account, as `GET /artifacts/credentials` shows it. */
export type ArtifactAccount = Answer<typeof artifactAccountSchema>;
