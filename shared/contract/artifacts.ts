import * as z from 'zod';
import { artifactField } from '../core/providers/artifact.ts';
import { toAcceptedObject } from './accepted.ts';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { pathParameter } from './parameters.ts';

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

const artifactAccountSchema = z
  .strictObject({
    name: z.string().min(1),
    type: z.string().min(1).describe("Id of the account's kind, such as `artifacts-github`."),
    types: z.array(z.string()).describe('Artifact types that it can fetch.'),
  })
  .describe('An artifact account.');

/** Named schemas of the artifact routes. */
export const artifactSchemas = { Artifact: artifactSchema, ArtifactAccount: artifactAccountSchema };

/** What is told of the artifacts of an account. */
const artifactTexts = {
  tag: 'artifacts',
  description:
    'Empty: no kind of account that there is can tell. 404 for an account that is not there, or has none of that type.',
  parameters: [
    pathParameter('account', { description: 'Artifact account.', example: 'embedded-artifact' }),
    {
      in: 'query',
      name: 'type',
      description: 'Type of the artifacts. Left out, any.',
      schema: z.string(),
      example: 'embedded/base64',
    },
  ],
  answer: {
    description: 'An empty list.',
    schema: z.array(z.string()).max(0),
    examples: { none: { summary: 'None', value: [] } },
  },
  errors: [404],
} satisfies Partial<ApiRoute>;

/** Routes of artifacts. */
export const artifactRoutes: ApiRoutes = {
  'GET /artifacts/account/{account}/names': {
    operationId: 'listArtifactNames',
    summary: 'Names of the artifacts of an account',
    ...artifactTexts,
  },
  'GET /artifacts/account/{account}/versions': {
    operationId: 'listArtifactVersions',
    summary: 'Versions of an artifact of an account',
    ...artifactTexts,
  },
  'GET /artifacts/credentials': {
    operationId: 'listArtifactCredentials',
    tag: 'artifacts',
    summary: 'The artifact accounts with the artifact types that each can fetch',
    answer: {
      description: 'The accounts.',
      schema: z.array(artifactAccountSchema),
      examples: {
        github: {
          summary: 'An account of GitHub',
          value: [{ name: 'github', type: 'artifacts-github', types: ['github/file'] }],
        },
      },
    },
  },
  'PUT /artifacts/fetch': {
    operationId: 'fetchArtifact',
    tag: 'artifacts',
    summary: "An artifact's bytes",
    request: {
      description: 'The artifact. Unknown fields count as metadata.',
      schema: z
        .unknown()
        .meta({ ...toAcceptedObject(artifactField()), required: ['type', 'artifactAccount'] }),
      required: true,
      examples: {
        embedded: {
          summary: 'Bytes inside the artifact itself',
          value: {
            type: 'embedded/base64',
            artifactAccount: 'embedded-artifact',
            name: 'manifest.yml',
            reference: 'a2luZDogQ29uZmlnTWFwCg==',
          },
        },
        github: {
          summary: 'A file of a repository',
          value: {
            type: 'github/file',
            artifactAccount: 'github',
            reference: 'https://api.github.com/repos/example/shop/contents/frontend.yml',
            version: 'main',
          },
        },
      },
    },
    answer: { description: 'The bytes.', bytes: true, example: 'kind: ConfigMap\n' },
    errors: [404],
  },
};
