import * as z from 'zod';
import { healthSchema, stagesSchema, startPageSchema } from './answers/features.ts';
import { type ApiRoutes, groupRoutes } from './api-route.ts';
import { textParameter } from './parameters.ts';

/** Routes that tell what there is: health, stages, plugins. */
export const featureRoutes: ApiRoutes = groupRoutes('features', {
  'GET /': {
    operationId: 'getStartPage',
    summary: 'What answers here, its version, and where to look further',
    browsersAreSentTo: '/status',
    answer: {
      description: 'Its name, its version and paths of further answers.',
      schema: startPageSchema,
      examples: {
        page: {
          summary: 'The start page, with one of its links',
          value: {
            name: 'Busdriver',
            version: '0.1.0',
            description: "Spinnaker's Clouddriver for Kubernetes",
            links: { health: '/health' },
          },
        },
      },
    },
  },
  'GET /status': {
    operationId: 'getStatusPage',
    summary: 'A page for people: accounts with the age of their caches, open and recent tasks; read-only',
    description:
      'Browsers that ask for `/` are sent here. It shows what the caller may read, and needs no script.',
    parameters: [
      textParameter('task', {
        description: 'Id of a task, to show its history, waits and outputs instead.',
        example: '01kak4rwm6h1zq5t9d0x8b2ceg',
      }),
    ],
    answer: {
      description: 'The page.',
      bytes: true,
      contentType: 'text/html',
      example: '<!doctype html>…',
    },
    errors: [404],
  },
  'GET /features/stages': {
    operationId: 'listStages',
    summary: 'The operations that there are, sorted by name',
    description: 'Orca looks for `upsertEntityTags` before it tags.',
    answer: {
      description: 'The operations.',
      schema: stagesSchema,
      examples: {
        operations: { summary: 'One operation', value: [{ name: 'deployManifest', enabled: true }] },
      },
    },
  },
  'GET /health': {
    operationId: 'getHealth',
    summary: 'Whether the API is up: sick accounts do not change it, and no cluster is called',
    answer: {
      description: 'It is up.',
      schema: healthSchema,
      examples: { up: { summary: 'Up', value: { status: 'UP' } } },
    },
  },
  'GET /installedPlugins': {
    operationId: 'listInstalledPlugins',
    summary: 'The plugins: never any',
    answer: {
      description: 'An empty list.',
      schema: z.array(z.unknown()).max(0),
      examples: { none: { summary: 'None', value: [] } },
    },
  },
  'GET /v3/api-docs': {
    operationId: 'getApiDocs',
    summary: 'The OpenAPI document',
    answer: {
      description: 'The document, in OpenAPI 3.1.',
      schema: z.strictObject({
        openapi: z.literal('3.1.0'),
        info: z.looseObject({ title: z.string(), version: z.string() }),
        servers: z.array(z.strictObject({ url: z.string() })),
        tags: z.array(z.strictObject({ name: z.string(), description: z.string() })),
        paths: z.record(z.string(), z.record(z.string(), z.unknown())),
        components: z.record(z.string(), z.record(z.string(), z.unknown())),
      }),
      examples: {
        document: {
          summary: 'A document without routes',
          value: {
            openapi: '3.1.0',
            info: { title: 'Busdriver', version: '0.1.0' },
            servers: [{ url: '/' }],
            tags: [],
            paths: {},
            components: {},
          },
        },
      },
    },
  },
});
