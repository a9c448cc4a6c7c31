import * as z from 'zod';
import type { Answer } from './answer.ts';

/** The second form is that of API Gateway's own answers, whose templates know no other clock. */
const timestampPattern =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}\+00:00|\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2} \+0000)$/;

/** Members of the body of every error. */
export const errorShape = {
  timestamp: z
    .string()
    .regex(timestampPattern)
    .describe("When it happened, in UTC; in API Gateway's own answers as `21/Nov/2026:06:15:35 +0000`."),
  message: z.string().describe('What is wrong; `Validation Failed` where `errors` tells more.'),
  errors: z.array(z.string()).min(1).optional().describe('One sentence for each violation.'),
};

/** Clouddriver's error body: Orca reads `message` and `error` as strings and `errors` as a list of strings. */
export const errorSchema = z
  .strictObject({
    ...errorShape,
    status: z.int().min(400).max(599).describe('The HTTP status.'),
    error: z.string().min(1).describe("The status's reason phrase."),
  })
  .describe('An error.');

/** The error body of go-clouddriver's own routes. */
export const plainErrorSchema = z
  .strictObject({ error: z.string().min(1).describe('What is wrong.') })
  .describe("An error in go-clouddriver's form.");

/** An error as go-clouddriver answers it. */
export type PlainErrorBody = Answer<typeof plainErrorSchema>;

/** An error as Clouddriver answers it. `message` and `error` are strings and `errors` a list of strings: Orca casts them. */
export type ErrorBody = Answer<typeof errorSchema>;
