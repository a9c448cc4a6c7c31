import * as z from 'zod';
import type { Answer } from './answer.ts';

/** The answer of `GET /`. */
export const startPageSchema = z.strictObject({
  name: z.literal('Busdriver'),
  version: z.string().min(1),
  description: z.string().min(1),
  links: z.record(z.string(), z.string().min(1)),
});

/** What answers here, and where to look further. */
export type StartPage = Answer<typeof startPageSchema>;

/** The answer of `GET /features/stages`. */
export const stagesSchema = z.array(z.strictObject({ name: z.string().min(1), enabled: z.literal(true) }));

/** The operations that there are. */
export type StageViews = Answer<typeof stagesSchema>;

/** The answer of `GET /health`. */
export const healthSchema = z.strictObject({
  status: z.literal('UP'),
  details: z
    .strictObject({
      upstream: z.strictObject({ status: z.enum(['UP', 'DOWN']), reason: z.string().min(1).optional() }),
    })
    .optional(),
});

/** That the API is up, and whether the Clouddriver behind it answers, where one was asked. */
export type HealthAnswer = Answer<typeof healthSchema>;
