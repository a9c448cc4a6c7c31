import * as z from 'zod';
import type { Answer } from './answer.ts';

/** An application in a list. */
export const applicationSchema = z
  .strictObject({
    name: z.string().min(1),
    attributes: z.strictObject({ name: z.string().min(1) }),
    clusterNames: z
      .record(z.string(), z.array(z.string()))
      .describe('Full names of its clusters (`deployment web`) by account.'),
  })
  .describe('An application that some account runs.');

/** An application's page. */
export const applicationPageSchema = z
  .strictObject({
    name: z.string().min(1),
    attributes: z.strictObject({
      name: z.string().min(1),
      cloudProviders: z.string().describe('Ids of the providers that it runs on, with commas between them.'),
    }),
    clusters: z
      .record(
        z.string(),
        z.array(
          z.strictObject({
            name: z.string().min(1).describe('`deployment web`.'),
            provider: z.literal('kubernetes'),
            loadBalancers: z.array(z.unknown()).max(0),
            serverGroups: z.array(z.unknown()).max(0),
          }),
        ),
      )
      .describe('By account.'),
  })
  .describe('An application with its clusters.');

/** An application that some account runs, as `GET /applications` lists it. */
export type ApplicationView = Answer<typeof applicationSchema>;

/** An application's page, without what Front50 knows of it. */
export type ApplicationPageView = Answer<typeof applicationPageSchema>;
