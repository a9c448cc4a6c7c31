import * as z from 'zod';
import type { Answer } from './answer.ts';
import { wholeNumber } from './resources.ts';

const countsSchema = z
  .strictObject({
    total: wholeNumber,
    up: wholeNumber,
    down: wholeNumber,
    unknown: wholeNumber,
    outOfService: wholeNumber,
    starting: wholeNumber,
  })
  .describe('Pods by how they fare.');

const time = wholeNumber.describe('Epoch milliseconds.');

const applicationSchema = z.strictObject({
  application: z.string().min(1),
  lastPush: time,
  clusters: z.array(
    z.strictObject({
      region: z.string().describe('Namespace.'),
      lastPush: time,
      instanceCounts: countsSchema,
      builds: z.array(
        z.strictObject({
          buildNumber: z.literal('0').describe('Nothing is known of builds.'),
          deployed: time,
          images: z.array(z.string()),
        }),
      ),
    }),
  ),
});

/** A cluster of a project. */
export const projectClusterSchema = z
  .strictObject({
    account: z.string().min(1),
    stack: z.string().optional(),
    detail: z.string().optional(),
    applications: z.array(applicationSchema),
    instanceCounts: countsSchema,
  })
  .describe('A cluster of a project, with what runs in it.');

/** A cluster of a project with what runs in it. */
export type ProjectClusterView = Answer<typeof projectClusterSchema>;
