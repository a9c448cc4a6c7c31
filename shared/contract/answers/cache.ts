import * as z from 'zod';
import type { Answer } from './answer.ts';

const count = z.int().min(0);
const duration = count.describe('Milliseconds.');
const time = z.int().describe('Epoch milliseconds.');

/** A caching agent. */
export const agentSchema = z
  .strictObject({
    id: z.string().min(1).describe('Account and name.'),
    provider: z.string().min(1),
    totalAdditions: count.describe('Things that it knows of.'),
    totalEvictions: z.literal(0).describe('They are counted in `changes`.'),
    lastExecutionStartDate: z
      .string()
      .regex(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
      .optional(),
    lastExecutionDurationMs: duration.optional(),
    details: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .describe('What an operator may want to know besides.'),
    account: z.string().min(1),
    name: z.string().min(1),
    region: z.string().optional().describe('Missing for an agent of the whole account.'),
    intervalMs: duration,
    mode: z
      .enum(['interval', 'stream'])
      .optional()
      .describe(
        'How it learns of changes: by turns at its interval, or all the time. Missing until it has one.',
      ),
    modeSince: time.optional(),
    modeReason: z
      .enum(['setting', 'default', 'unused', 'watches', 'changes', 'limit'])
      .optional()
      .describe(
        'Why: the account has `cacheMode`; nothing speaks against a stream; it was not used for an hour; it needs more than 60 ' +
          'watches; more than 20 objects a second change; as many accounts as may be are watched.',
      ),
    monthlyUsd: z
      .number()
      .min(0)
      .optional()
      .describe(
        'What this mode costs a month in AWS, estimated, in US dollars, without what changes cost. Missing on one machine.',
      ),
    state: z
      .enum(['running', 'waiting', 'overdue', 'removed'])
      .describe(
        '`overdue` by more than two intervals; `removed` from the configuration, with data left to delete.',
      ),
    isStale: z
      .boolean()
      .describe('Its last run failed, or it is overdue: the cache may be older than `asOf`.'),
    lastRun: z
      .strictObject({
        outcome: z
          .enum(['SUCCESS', 'FAILURE', 'STOPPED'])
          .describe('`STOPPED`: the worker had to end, and another one goes on.'),
        started: time,
        durationMs: duration,
        lagMs: z.int().describe('By how much it began later than it was due.'),
        items: count.describe('Things that the agent knows of.'),
        changes: count.describe('Things that were put or removed.'),
        drift: count.optional().describe('Things that a check of the whole cache found wrong.'),
      })
      .optional()
      .describe('The last run that ended.'),
    asOf: time.optional().describe('Everything that was so at this time is cached.'),
    ageMs: duration.optional(),
    failures: count.describe('Runs that failed since one succeeded.'),
    attempts: count.describe(
      'Times that it was begun since a run ended: more than one tells of workers that died.',
    ),
    lastError: z.string().optional().describe('The last failure; later successes leave it here.'),
    lastErrorTime: time.optional(),
    leaseOwner: z.string().optional().describe('Who runs it.'),
    leaseUntil: time.optional().describe('Until when that holds unless it is renewed.'),
    nextRun: time,
    lastUsed: time.describe('When its account was last read or deployed to; 0 for never.'),
    removed: time.optional(),
  })
  .describe('A caching agent. The first seven members are those of Clouddriver.');

/** An agent, as `GET /cache/introspection` shows it. The first seven members are Clouddriver's. */
export type AgentView = Answer<typeof agentSchema>;
