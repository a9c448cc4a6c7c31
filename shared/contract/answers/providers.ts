import * as z from 'zod';
import type { Answer } from './answer.ts';

/** An account in go-clouddriver's form. */
export const providerSchema = z
  .strictObject({
    name: z.string().min(1).max(253),
    host: z.string().describe('URL of the API server.'),
    caData: z.string().optional().describe('PEM of the authorities to trust, in base64.'),
    bearerToken: z.string().optional().describe('`******` in the place of a token.'),
    tokenProvider: z.string().optional().describe('What the token broker is asked for; `google` by default.'),
    permissions: z
      .strictObject({ read: z.array(z.string()).optional(), write: z.array(z.string()).optional() })
      .optional(),
    namespaces: z
      .array(z.string())
      .optional()
      .describe('The only ones that it may use; all where it is left out.'),
  })
  .describe('An account as go-clouddriver writes it: a provider. Empty members are left out.');

/** An object that Spinnaker deployed, in go-clouddriver's words. */
export const providerResourceSchema = z
  .strictObject({
    accountName: z.string(),
    id: z.string().describe("The object's UID."),
    timestamp: z.string().describe('When it was listed, in UTC.'),
    taskId: z.string().describe('The same for all of an answer.'),
    apiGroup: z.string(),
    name: z.string(),
    namespace: z.string(),
    resource: z.string(),
    version: z.string(),
    kind: z.string(),
    spinnakerApp: z.string(),
  })
  .describe('An object that Spinnaker deployed.');

/** An object that Spinnaker deployed, in go-clouddriver's words. */
export type ProviderResource = Answer<typeof providerResourceSchema>;
