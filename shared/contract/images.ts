import * as z from 'zod';
import { chartSchema, imageSchema } from './answers/images.ts';
import { type ApiParameter, type ApiRoutes, groupRoutes } from './api-route.ts';
import { flagParameter, pathParameter, textParameter } from './parameters.ts';

/** Named schemas of the routes of images and charts. */
export const imageSchemas = { Image: imageSchema, Chart: chartSchema };

const registryParameter = pathParameter('cloudProvider', {
  description: 'Provider id: `dockerRegistry`, or `titus`, which has the same images. Others have none.',
  example: 'dockerRegistry',
});

const accountParameter = textParameter('account', {
  description: 'Account of a Docker registry. Default: all that the caller may read.',
  example: 'hub',
});

const chartAccountParameter = textParameter('account', {
  description:
    'Account of a Docker registry with `helmOciRepositories`. Default: all that the caller may read.',
  example: 'own',
});

const countParameter: ApiParameter = {
  in: 'query',
  name: 'count',
  description:
    'How many images are looked at, before `repository` and `tag` choose among them. Default, as 0: all.',
  schema: z.union([z.int().min(0).max(10_000_000), z.literal('')]),
  example: 100,
};

/** Routes of images and charts. */
export const imageRoutes: ApiRoutes = groupRoutes('images', {
  'GET /{cloudProvider}/images/find': {
    operationId: 'findImages',
    isCached: true,
    summary: 'Tags of Docker registries, by account, repository and tag; `[]` for other providers',
    parameters: [
      registryParameter,
      accountParameter,
      textParameter('q', {
        description: 'Part of `registry/repository:tag`, in any case.',
        example: 'nginx',
      }),
      textParameter('repository', { description: 'Only this repository.', example: 'library/nginx' }),
      textParameter('tag', { description: 'Only this tag, together with `repository`.', example: '1.29' }),
      countParameter,
      flagParameter('includeDetails', 'Whether labels and dates of images are shown.', true),
    ],
    answer: {
      description: 'The images.',
      schema: z.array(imageSchema),
      examples: {
        one: {
          summary: 'An image, with its details',
          value: [
            {
              account: 'hub',
              registry: 'index.docker.io',
              repository: 'library/nginx',
              tag: '1.29',
              digest: `sha256:${'4f'.repeat(32)}`,
              artifact: {
                type: 'docker',
                name: 'library/nginx',
                version: '1.29',
                reference: 'index.docker.io/library/nginx:1.29',
                metadata: { registry: 'index.docker.io', labels: { branch: 'main' } },
              },
              branch: 'main',
              date: 1_767_225_600_000,
            },
          ],
        },
        none: { summary: 'None', value: [] },
      },
    },
  },
  'GET /{cloudProvider}/images/tags': {
    operationId: 'listImageTags',
    isCached: true,
    summary:
      'The tags of a repository: by name, or newest first where the account sorts by date; `[]` for what is not there',
    parameters: [
      registryParameter,
      accountParameter,
      textParameter('repository', { description: 'The repository.', example: 'library/nginx' }),
    ],
    answer: {
      description: 'The tags.',
      schema: z.array(z.string()),
      examples: {
        two: { summary: 'Two tags', value: ['1.28', '1.29'] },
        none: { summary: 'None', value: [] },
      },
    },
  },
  'GET /{cloudProvider}/charts/find': {
    operationId: 'findCharts',
    isCached: true,
    summary:
      'Versions of charts in Docker registries, by account, repository and tag; `[]` for other providers',
    parameters: [
      registryParameter,
      chartAccountParameter,
      textParameter('q', { description: 'Part of `registry/repository:tag`, in any case.', example: 'shop' }),
      textParameter('repository', { description: 'Only this repository.', example: 'charts/shop' }),
      textParameter('tag', { description: 'Only this tag, together with `repository`.', example: '1.4.2' }),
      countParameter,
      flagParameter('includeDetails', 'Whether labels and dates are shown.', true),
    ],
    answer: {
      description: 'The versions.',
      schema: z.array(chartSchema),
      examples: {
        one: {
          summary: 'A version of a chart',
          value: [
            {
              account: 'own',
              registry: 'registry.example.com',
              repository: 'charts/shop',
              tag: '1.4.2',
              artifact: {
                type: 'helm/image',
                name: 'charts/shop',
                version: '1.4.2',
                reference: 'registry.example.com/charts/shop:1.4.2',
                metadata: { registry: 'registry.example.com', labels: {} },
              },
            },
          ],
        },
        none: { summary: 'None', value: [] },
      },
    },
  },
  'GET /{cloudProvider}/charts/tags': {
    operationId: 'listChartTags',
    isCached: true,
    summary:
      'The tags of a repository of charts: by name, or newest first where the account sorts by date; `[]` for what is not there',
    parameters: [
      registryParameter,
      chartAccountParameter,
      textParameter('repository', { description: 'The repository.', example: 'charts/shop' }),
    ],
    answer: {
      description: 'The tags.',
      schema: z.array(z.string()),
      examples: {
        two: { summary: 'Two tags', value: ['1.4.1', '1.4.2'] },
        none: { summary: 'None', value: [] },
      },
    },
  },
});
