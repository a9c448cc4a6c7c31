import * as z from 'zod';

/**
 * The messages between agents and Busdriver about what is cached, a part of `busdriver.agent.v1`. Objects cross the wire as the facts that
 * views show: manifests stay in their cluster.
 */

/** Changes of one batch at most. */
export const batchChangesMax = 500;

/** Bytes of a batch at most, gzipped. */
export const batchBytesMax = 256 * 1024;

/** Bytes of a batch at most, unpacked. */
export const batchUnpackedBytesMax = 8 * 2 ** 20;

/** Batches of one account that are under way at a time, at most. */
export const batchesMax = 4;

/** Heads of one page. */
export const headsPageSize = 2_000;

/** Characters of what an agent's caching leaves for its next run, at most. */
export const stateLengthMax = 2 * 2 ** 20;

/** Applications that are looked at by one call, at most. */
export const pruneApplicationsMax = 500;

/** Characters of an object's facts at most, as JSON text. */
export const factsLengthMax = 384 * 1024;

/** Characters of the details of a caching agent, as JSON text. */
const detailsLengthMax = 20_000;

/** Characters of the error of a failed run. */
const errorLengthMax = 2_000;

const name = z.string().min(1).max(253);
const whole = z.int().min(0);
const milliseconds = z.int();
/** Which cluster an account stood for: see `AccountEpoch`. */
const epoch = whole.max(2 ** 31);
/** A resource version, which two of an account are compared by. */
const version = z.string().regex(/^\d{1,19}$/, { error: 'expected 1 to 19 digits' });
/** Spinnaker's name of a kind, as `replicaSet` or `CronTab.stable.example.com`. */
const kind = z
  .string()
  .max(253)
  .regex(/^[A-Za-z][\w-]*(\.[\w-]+)*$/, {
    error: "expected a kind, as 'replicaSet' or 'CronTab.example.com'",
  });
/** Of a DNS label, or empty for what lives in no namespace. */
const namespace = z
  .string()
  .max(63)
  .regex(/^[a-z0-9-]*$/, { error: 'expected a namespace, or nothing' });
/** Names of objects are parts of paths. */
const objectName = name.regex(/^[^/%\p{Cc}]+$/u, { error: 'expected the name of an object' });

/** Asks for the lease on what keeps an account cached. */
export const claimSchema = z.object({
  /** Which of the account's caching agents: `KubernetesCoreCachingAgent[1/1]`. */
  agent: name,
  /**
   * When the agent asked, milliseconds since the epoch by Busdriver's clock: later with each claim. A lease that it was given for an earlier
   * one, and never heard of, is given again. Default: such a lease must end first.
   */
  askedMs: milliseconds.optional(),
});

/** A lease on it, as the store distinguishes it from others. */
export const cacheLeaseSchema = z.object({
  fence: whole,
  turn: whole,
  startedMs: milliseconds,
  lagMs: whole,
  usedMs: milliseconds,
  stateWrites: whole,
  hasChunks: z.boolean(),
});

/** How the one that is claimed stood before. */
const claimedAgentSchema = z.object({
  intervalMs: whole,
  failures: whole,
  /** Objects that it knew of. */
  items: whole,
  /** Whether a run of it ever ended. */
  hasRun: z.boolean(),
  /** Everything that was so at this time is cached; absent until that was reported. */
  asOfMs: milliseconds.optional(),
});

/** The lease that is had. */
export const claimedSchema = z.object({
  lease: cacheLeaseSchema,
  agent: claimedAgentSchema,
  /** Its state for the next run; absent at first, and where that is damaged. */
  state: z.string().optional(),
});

/** How far it has come. */
const cacheProgressSchema = z.object({
  items: whole,
  changes: whole,
  asOfMs: milliseconds.optional(),
  drift: whole.optional(),
  /** JSON text of an object. */
  details: z.string().max(detailsLengthMax).optional(),
});

/** Keeps a lease, reports how far it has come, and ends it. */
export const cacheProgressMessageSchema = z.object({
  agent: name,
  lease: cacheLeaseSchema,
  /** The state for the next run. */
  state: z.string().max(stateLengthMax).optional(),
  progress: cacheProgressSchema.optional(),
  end: z
    .object({
      outcome: z.enum(['SUCCESS', 'FAILURE', 'STOPPED']),
      durationMs: whole,
      /** Milliseconds from now. */
      nextRunInMs: whole.max(86_400_000),
      error: z.string().max(errorLengthMax).optional(),
    })
    .optional(),
});

/** The lease after that; with the failures in a row where it has ended. */
export const keptSchema = z.object({ lease: cacheLeaseSchema, failures: whole.optional() });

/** The epoch of an account. */
export const epochSchema = z.object({
  epoch,
  /** UID of the cluster's namespace `kube-system`; empty where that may not be read. */
  cluster: z.string().max(253),
});

/** The epoch in force, absent before the first, and the kinds of which there are objects. */
export const epochAnswerSchema = z.object({
  current: epochSchema
    .extend({
      /** When a comparison with the cluster was last asked for; absent: never. Default: each hour is enough. */
      compareMs: milliseconds.optional(),
    })
    .optional(),
  kinds: z.array(z.string()),
});

/** An object as it is cached. */
const headSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  epoch,
  version: z.string(),
  /** It was deleted at this version. */
  gone: z.boolean().optional(),
  /** Its facts, where it was asked for by its name. */
  facts: z.string().optional(),
});

/** Which heads. */
export const headsQuerySchema = z.object({
  kind,
  namespace: namespace.optional(),
  /** Only this object, with its facts. */
  name: objectName.optional(),
  /** Also those that were deleted less than 24 hours ago. */
  withGone: z.boolean().optional(),
  /** The page before's pointer to this one. */
  page: z.string().max(2_000).optional(),
});

/** A page of heads. */
export const headsSchema = z.object({
  heads: z.array(headSchema),
  /** Asks for the next page; absent with the last one. */
  next: z.string().optional(),
});

/** The change of an object. */
const changeSchema = z.object({
  kind,
  namespace,
  name: objectName,
  /** Absent: the batch's. Only what is evicted may be of an earlier one. */
  epoch: epoch.optional(),
  /** When it became so: its resource version; of what a list lacks, that of the list. */
  version,
  /** Up to which version it was seen to be so. Absent: the same. */
  seenVersion: version.optional(),
  /** JSON text of what the cache keeps of it; absent for what is gone. */
  facts: z.string().max(factsLengthMax).optional(),
});

/** A batch of changes, of each object one. */
export const changesSchema = z.object({ epoch, changes: z.array(changeSchema).max(batchChangesMax) });

/** The outcome of writing them: see `WriteOutcome`. */
export const changesOutcomeSchema = z.object({
  changes: whole,
  waiting: z.array(z.string()),
  dropped: z.array(z.string()),
  proof: z.string().optional(),
});

/** Applications: to be looked at, and of the answer those to be looked at again later. */
export const prunesSchema = z.object({
  applications: z.array(z.string().min(1).max(1_000)).max(pruneApplicationsMax),
});

/** Further reports of a caching agent, of which details are the JSON text. */
export const detailsSchema = z
  .record(z.string().max(100), z.union([z.string().max(2_000), z.number(), z.boolean()]))
  .refine((details) => Object.keys(details).length <= 20, { error: 'expected 20 members at most' });

/** As `claimSchema` has it. */
export type CacheClaim = z.infer<typeof claimSchema>;
/** As `cacheLeaseSchema` has it. */
export type CacheLease = z.infer<typeof cacheLeaseSchema>;
/** As `claimedSchema` has it. */
export type ClaimedCache = z.infer<typeof claimedSchema>;
/** As `cacheProgressMessageSchema` has it. */
export type CacheProgressMessage = z.infer<typeof cacheProgressMessageSchema>;
/** As `keptSchema` has it. */
export type KeptCacheLease = z.infer<typeof keptSchema>;
/** As `epochAnswerSchema` has it. */
export type EpochAnswer = z.infer<typeof epochAnswerSchema>;
/** As `headsQuerySchema` has it. */
export type HeadsQuery = z.infer<typeof headsQuerySchema>;
/** As `headsSchema` has it. */
export type HeadsPage = z.infer<typeof headsSchema>;
/** As `changesSchema` has it. */
export type ChangesMessage = z.infer<typeof changesSchema>;
/** The change of one object, as the wire has it. */
export type ChangeMessage = ChangesMessage['changes'][number];
/** As `changesOutcomeSchema` has it. */
export type ChangesOutcome = z.infer<typeof changesOutcomeSchema>;
/** As `prunesSchema` has it. */
export type Prunes = z.infer<typeof prunesSchema>;
