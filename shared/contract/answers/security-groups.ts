import * as z from 'zod';
import type { Answer } from './answer.ts';
import { providedShape, resourceShape } from './resources.ts';

/** A network policy in a list. */
export const summarySchema = z.strictObject({
  name: z.string().min(1),
  id: z.string().min(1),
  moniker: z.strictObject({}).describe('Always empty.'),
});
/** Network policies of one namespace. */
export const summariesSchema = z.array(summarySchema);
/** Network policies by namespace. */
export const regionsSchema = z.record(z.string(), summariesSchema).describe('By namespace.');
/** Network policies by provider and namespace. */
export const providersSchema = z.record(z.string(), regionsSchema).describe('By provider.');

const port = z.int().min(0).max(65_535);
const portRangeSchema = z.strictObject({
  startPort: port.optional(),
  endPort: port.optional(),
  startPortName: z.string().optional(),
  endPortName: z.string().optional(),
});
const ruleSchema = z.strictObject({
  class: z.string().min(1),
  protocol: z.string().optional(),
  portRanges: z.array(portRangeSchema).optional().describe('One range; left out for all ports.'),
});

/** A network policy. */
export const securityGroupSchema = z
  .strictObject({
    ...resourceShape,
    ...providedShape,
    class: z.string().min(1).describe("Name of Clouddriver's class."),
    id: z.string().min(1).describe('Full name.'),
    accountName: z.string().min(1).describe('The account again.'),
    application: z.string().optional(),
    summary: summarySchema,
    inboundRules: z.array(ruleSchema),
    outboundRules: z.array(ruleSchema),
  })
  .describe('A network policy. Of its rules only ports are shown.');

/** A network policy with all that is shown of it. */
export type SecurityGroupView = Answer<typeof securityGroupSchema>;

/** A network policy in a list. */
export type SecurityGroupSummaryView = Answer<typeof summarySchema>;

/** Network policies by namespace. */
export type SecurityGroupsByRegion = Answer<typeof regionsSchema>;

/** Network policies by provider and namespace. */
export type SecurityGroupsByProvider = Answer<typeof providersSchema>;
