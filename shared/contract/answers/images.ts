import * as z from 'zod';
import type { Answer } from './answer.ts';
import { wholeNumber } from './resources.ts';

/** What a tag of a repository is: an image, or the version of a chart. */
const tagSchema = z
  .strictObject({
    account: z.string().min(1),
    registry: z.string().describe('Address of the registry without its scheme.'),
    repository: z.string().min(1),
    tag: z.string().min(1),
    digest: z.string().optional().describe('Where the account tracks digests.'),
    artifact: z.strictObject({
      type: z.enum(['docker', 'helm/image']),
      name: z.string().describe('The repository again.'),
      version: z.string().describe('The tag again.'),
      reference: z.string().describe('`registry/repository:tag`.'),
      metadata: z.strictObject({
        registry: z.string(),
        labels: z
          .record(z.string(), z.string())
          .describe('Labels of the image, with `includeDetails` and where the account inspects digests.'),
      }),
    }),
    buildNumber: z.string().optional().describe('The label of this name, with `includeDetails`.'),
    commitId: z.string().optional().describe('The label of this name, with `includeDetails`.'),
    branch: z.string().optional().describe('The label of this name, with `includeDetails`.'),
    date: wholeNumber
      .optional()
      .describe('When the image was made, epoch milliseconds, with `includeDetails`.'),
  })
  .describe('A tag of a repository.');

const { artifact } = tagSchema.shape;

/** A tag of a repository of images, as Igor and Deck read it. */
export const imageSchema = tagSchema
  .extend({ artifact: artifact.extend({ type: z.literal('docker') }) })
  .describe('A tag of a repository.');

/** A tag of a repository of charts, as Igor and Deck read it. */
export const chartSchema = tagSchema
  .extend({ artifact: artifact.extend({ type: z.literal('helm/image') }) })
  .describe('A version of a chart in a registry.');

/** A tag of a repository of images or charts. */
export type RegistryTagView = Answer<typeof tagSchema>;
