import * as z from 'zod';
import { providerResourceSchema, providerSchema } from './answers/providers.ts';
import type { ApiRoute, ApiRoutes } from './api-route.ts';
import { accountParameter } from './parameters.ts';

/** Named schemas of answers in go-clouddriver's form. */
export const providerSchemas = { Provider: providerSchema, ProviderResource: providerResourceSchema };

const groups = z.array(z.string()).nullish();

/** What is accepted; other members are ignored. */
const providerRequestSchema = z.looseObject({
  name: z
    .string()
    .min(1)
    .max(253)
    .describe('Letters, digits and characters of `._-`; unique whatever its case.'),
  host: z.string().min(1).describe('URL of the API server: http or https.'),
  caData: z.string().nullish().describe('PEM of the authorities to trust, in base64.'),
  bearerToken: z
    .string()
    .nullish()
    .describe(
      "A token in the place of the broker's: only where `busdriver.accounts.allowPlainSecrets` is true, else a reference to one.",
    ),
  tokenProvider: z.string().nullish().describe('What the token broker is asked for. Default: `google`.'),
  permissions: z.looseObject({ read: groups, write: groups }).nullish().describe('Groups.'),
  namespaces: z.array(z.string()).nullish().describe('The only ones that it may use. Default: all.'),
  namespace: z.string().nullish().describe('One of them: what older clients send.'),
});

const example = {
  name: 'test-provider',
  host: 'https://test-host',
  caData: 'test',
  permissions: { read: ['test-group'], write: ['test-group'] },
};

const examples = { provider: { summary: 'A cluster whose token a broker gives', value: example } };

const stored = "Go-clouddriver's; as `POST /credentials`.";

const goRoute = { tag: 'credentials', hasPlainErrors: true } as const satisfies Partial<ApiRoute>;

const written = {
  request: { description: 'The provider.', schema: providerRequestSchema, required: true, examples },
  answer: { description: 'The provider as it was stored.', schema: providerSchema, examples },
} as const satisfies Partial<ApiRoute>;

/** Routes of accounts in go-clouddriver's form. */
export const providerRoutes: ApiRoutes = {
  'POST /v1/kubernetes/providers': {
    ...goRoute,
    ...written,
    operationId: 'createProvider',
    summary: "Creates an account in go-clouddriver's form; 409 where any account has its name",
    description: `${stored} The token broker is asked for a token; the cluster is not called.`,
    answerStatus: 201,
    errors: [409],
  },
  'PUT /v1/kubernetes/providers': {
    ...goRoute,
    ...written,
    operationId: 'saveProvider',
    summary: "Creates or replaces an account in go-clouddriver's form",
    description: `${stored} A token that is sent as \`******\` stays as it is.`,
    errors: [412],
  },
  'GET /v1/kubernetes/providers': {
    ...goRoute,
    operationId: 'listProviders',
    summary: 'Accounts that name their API server by its address, by name: those that the caller may change',
    description: stored,
    answer: {
      description: 'The providers.',
      schema: z.array(providerSchema),
      examples: { one: { summary: 'One provider', value: [example] } },
    },
  },
  'GET /v1/kubernetes/providers/{account}': {
    ...goRoute,
    operationId: 'getProvider',
    summary: "One account in go-clouddriver's form",
    description: stored,
    parameters: [accountParameter],
    answer: { description: 'The provider.', schema: providerSchema, examples },
    errors: [404],
  },
  'DELETE /v1/kubernetes/providers/{account}': {
    ...goRoute,
    operationId: 'deleteProvider',
    summary: 'Deletes an account that an API made, as go-clouddriver does',
    description: `${stored} What is cached of it goes, too; its cluster is left as it is.`,
    parameters: [accountParameter],
    answerStatus: 204,
    answer: { description: 'No body.', bytes: true, example: '' },
    errors: [404, 412],
  },
  'PUT /v1/kubernetes/providers/{account}/resources': {
    ...goRoute,
    operationId: 'loadProviderResources',
    summary: 'Has an account listed anew, and answers what Spinnaker deployed to it; 504 after 15 seconds',
    parameters: [accountParameter],
    answer: {
      description: 'DaemonSets, Deployments, Ingresses, ReplicaSets, Services and StatefulSets.',
      schema: z.array(providerResourceSchema),
      examples: { none: { summary: 'Nothing', value: [] } },
    },
    errors: [404],
  },
  'DELETE /v1/kubernetes/providers/{account}/resources': {
    ...goRoute,
    operationId: 'deleteProviderResources',
    summary: 'Has an account listed anew, and does not wait for it',
    parameters: [accountParameter],
    answerStatus: 204,
    answer: { description: 'No body.', bytes: true, example: '' },
    errors: [404],
  },
};
