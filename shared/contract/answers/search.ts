import * as z from 'zod';
import type { Answer } from './answer.ts';

const findSchema = z
  .looseObject({
    type: z.string().min(1).describe('What it is: `serverGroups`, `applications` …'),
    name: z.string().describe('Full name; of an application, cluster or project its name.'),
  })
  .describe('A find. Its further members depend on its type.');

/** A page of what was found. */
export const resultSetSchema = z
  .strictObject({
    totalMatches: z.int().min(0).describe('On all pages.'),
    pageNumber: z.int().min(1),
    pageSize: z.int().min(1),
    platform: z
      .string()
      .min(1)
      .describe('The provider; `aws` where several were searched, as in Clouddriver.'),
    query: z.string(),
    results: z.array(findSchema),
  })
  .describe('A page of what was found.');

/** A find. Its further members depend on its type. */
export type FindView = Answer<typeof findSchema>;

/** A page of what was found. */
export type SearchResultSet = Answer<typeof resultSetSchema>;
