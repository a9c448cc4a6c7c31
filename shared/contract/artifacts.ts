import * as z from 'zod';
import { artifactField } from '#provider-kit/artifact.ts';
import { toAcceptedObject } from './accepted.ts';
import { artifactAccountSchema, artifactSchema, storedArtifactSchema } from './answers/artifacts.ts';
import { type ApiRoute, type ApiRoutes, groupRoutes } from './api-route.ts';
import { pathParameter } from './parameters.ts';

/** Named schemas of the artifact routes. */
export const artifactSchemas = {
  Artifact: artifactSchema,
  ArtifactAccount: artifactAccountSchema,
  StoredArtifact: storedArtifactSchema,
};

/** What is told of the artifacts of an account. */
const artifactTexts = {
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
    description: 'In the order of the index.',
    schema: z.array(z.string()),
    examples: { charts: { summary: 'Two', value: ['a', 'b'] } },
  },
  errors: [404],
} satisfies Partial<ApiRoute>;

/** Routes of artifacts. */
export const artifactRoutes: ApiRoutes = groupRoutes('artifacts', {
  'GET /artifacts/account/{account}/names': {
    operationId: 'listArtifactNames',
    summary:
      "Names of the charts of an account of Helm, or of Front50's global pipeline templates; 400 for others, 404 for an account that is not there, or lacks the `type`",
    ...artifactTexts,
  },
  'GET /artifacts/account/{account}/versions': {
    operationId: 'listArtifactVersions',
    summary:
      'Versions of a chart of an account of Helm; 400 for others, 404 for an account that is not there, or lacks the `type`',
    ...artifactTexts,
    parameters: [
      ...artifactTexts.parameters,
      {
        in: 'query',
        name: 'artifactName',
        description: 'Name of the chart.',
        schema: z.string(),
        example: 'shop',
      },
    ],
  },
  'GET /artifacts/content-address/{application}/{hash}': {
    operationId: 'getStoredArtifact',
    summary:
      "What stands in Spinnaker's artifact store as `ref://<application>/<hash>`; 404 where none is switched on",
    parameters: [
      pathParameter('application', {
        description: 'Whose it is. Letters, digits, `.`, `_`, `~` and `-`.',
        example: 'shop',
        schema: z.string().regex(/^(?!\.+$)[A-Za-z0-9._~-]{1,250}$/),
      }),
      pathParameter('hash', {
        description: 'What it holds: SHA-256 in hexadecimal.',
        example: '867867a8e7e9da56bc108b97c03bf3b532f86e9cfdf3196de277a2d77d188195',
        schema: z.string().regex(/^[A-Za-z0-9]{1,128}$/),
      }),
    ],
    answer: {
      description: 'Its content.',
      schema: storedArtifactSchema,
      examples: { manifest: { summary: 'A manifest', value: { reference: 'eyJraW5kIjoiQ29uZmlnTWFwIn0=' } } },
    },
    errors: [404],
  },
  'GET /artifacts/credentials': {
    operationId: 'listArtifactCredentials',
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
    summary:
      "The bytes of the artifact in the body; of what stands in Spinnaker's artifact store, to who may read its application",
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
});
