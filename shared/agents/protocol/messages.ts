import * as z from 'zod';
import {
  readErrorLengthMax,
  readPartBytesMax,
  readPartsMax,
  readViolationLengthMax,
  readViolationsMax,
} from '../live-read.ts';

/** The messages of agents and Busdriver, `busdriver.agent.v1`, as JSON. Both ignore unknown members, so that one may be newer. */

/** Number of the protocol: who speaks another is refused. */
export const protocolVersion = 1;

/** The audience of a projected token of an agent, where the installation has no other. */
export const proofAudience = 'busdriver:local';

/** Accounts of one session at most. */
export const sessionAccountsMax = 500;

/** Bytes of one entry of a journal at most. */
export const entryBytesMax = 256 * 1024;

/** Bytes of all entries of one commit at most. */
export const commitBytesMax = 1024 * 1024;

/** Characters of each fact about a cluster. */
export const clusterFactLengthMax = 500;

/** Commits that leave something in a task's journal, at most. */
export const commitsMax = 2_000;

/** Seconds after which a task that was put down is looked at again, at most. */
export const lookSecondsMax = 60;

/** Warnings that an agent hands over at a time, at most. */
export const warningsMax = 200;

/** Characters of one of them at most. */
export const warningLengthMax = 1_000;

const name = z.string().min(1).max(253);
/** It shows in tasks and logs. */
const id = name.regex(/^[\w.-]+$/, { error: 'expected letters, digits, dots, dashes and underscores' });
const text = (most: number) => z.string().max(most);
const whole = z.int().min(0);
const milliseconds = z.number();

/** An account that an agent would serve, and which cluster it is, as far as the agent may know that. */
const accountHelloSchema = z.object({
  name,
  /** Address of its API server. */
  kubeHost: text(clusterFactLengthMax).optional(),
  /** SHA-256 of the certificate that it shows: hexadecimal, with colons. */
  certFingerprint: text(clusterFactLengthMax).optional(),
  /** `v1.34.1` */
  kubeVersion: text(clusterFactLengthMax).optional(),
  /** UID of the namespace `kube-system`. */
  clusterUid: text(clusterFactLengthMax).optional(),
  /** Namespaces that the agent is bounded to. Default: none are reported. */
  namespaces: z.array(text(253)).max(1_000).optional(),
});

/** Opens a session: which agent it is, and which accounts it would serve. */
export const helloSchema = z.object({
  agentId: id,
  version: text(100),
  protocol: whole,
  journalFormat: whole,
  zone: text(253).optional(),
  accounts: z.array(accountHelloSchema).min(1).max(sessionAccountsMax),
});

/** Keeps a session open, and hands over what the agent runs and the last warnings of its log. */
export const renewalSchema = z.object({
  journalFormat: whole,
  load: z.object({ tasks: whole, reads: whole }).optional(),
  warnings: z.array(text(warningLengthMax)).max(warningsMax).optional(),
});

/** How agents come back whose connections ended all at once. Default: no times are given, and each does as it thinks best. */
const returnFields = {
  /** Milliseconds after which this agent is to try, its place among all of them. */
  returnMs: whole.optional(),
  /** Milliseconds over which all of them are spread: who fails in his place tries again at some time within them. */
  spreadMs: whole.optional(),
};

const grantSchema = z.object({
  name: z.string(),
  /** Whether the agent may run its operations, and keep it cached. */
  operations: z.boolean(),
  caching: z.boolean(),
  /** Why it is neither; absent for an account of the session. */
  refused: z.string().optional(),
  /** JSON text of the settings that the account is opened with, without secrets; absent where it is refused. */
  definition: z.string().optional(),
});

/** A session that is open. Both it and its token are empty where no account is granted: then there is none. */
export const welcomeSchema = z.object({
  session: z.string(),
  /** Proves the session in each further request. */
  token: z.string(),
  /** Until when the token holds, and what the time is here: milliseconds since the epoch. */
  expiresMs: milliseconds,
  serverMs: milliseconds,
  /** The address to which the agent connects for hints: an absolute URL, or a path of Busdriver's. Default: nowhere, it asks for work by itself. */
  hintUrl: text(2_048).optional(),
  accounts: z.array(grantSchema),
  limits: z.object({
    /** Tasks that it may run at once, all together and of one account. */
    tasks: whole,
    accountTasks: whole,
    /** Reads that it may run at once. Default: none. */
    reads: whole.optional(),
    /** Milliseconds between two requests for work while it runs nothing, and while it runs something. */
    pollIdleMs: whole,
    pollBusyMs: whole,
    /** The same while it is connected for hints, whatever it runs. Default: 15 seconds. */
    pollConnectedMs: whole.optional(),
    ...returnFields,
  }),
});

/** The work to do. */
export const workSchema = z.object({
  work: z.array(z.object({ kind: z.string(), account: z.string(), id: z.string() })),
  ...returnFields,
});

/** Asks for the lease of a task. */
export const takeSchema = z.object({ owner: id, attempts: z.int().min(0).max(100) });

/** A lease: which one of its task, and how many commits were made under it. */
export const leaseSchema = z.object({ fence: whole, sequence: whole });

/** A task that is leased. Operations and entries of its journal are JSON texts, which keep each digit of a number. */
export const leasedTaskSchema = z.object({
  lease: leaseSchema,
  id: z.string(),
  account: z.string(),
  run: whole,
  attempts: whole,
  acceptedAtMs: milliseconds,
  caller: z.record(z.string(), z.string()),
  waitMs: whole,
  operations: z.string(),
  /** Those of the present run. */
  journal: z.array(z.string()),
  /** Whether operations of other accounts follow: then the task is not ended, but handed over. Default false. */
  handsOver: z.boolean().optional(),
  /** Whether a commit may put it down while it waits. Default false: its agent waits. */
  putsDown: z.boolean().optional(),
});

/** One conditional update of a leased task. */
export const commitSchema = z.object({
  lease: leaseSchema,
  next: z.enum(['hold', 'checkpoint', 'handover', 'wait', 'release', 'COMPLETED', 'FAILED']),
  /** Seconds after which a task that waits is to be looked at again. Default 1. */
  lookSeconds: z.int().min(1).max(lookSecondsMax).optional(),
  entries: z.array(z.string().max(entryBytesMax)).max(1_000),
});

/** A live read that was taken. */
export const readRequestSchema = z.object({
  id: z.string(),
  account: z.string(),
  /** The method of the read, and its arguments as JSON text. */
  method: z.string(),
  args: z.string(),
  /** How often it was taken: sent with each part of the answer. */
  take: whole,
  /** Milliseconds from now for which somebody waits for it. */
  waitMs: whole,
});

/** The failure: which of the errors whose message a user may see it is, and its message. */
const failureSchema = z.object({
  name: text(100),
  message: text(readErrorLengthMax),
  /** Each violation, where it is bad input. */
  errors: z.array(text(readViolationLengthMax)).max(readViolationsMax).optional(),
});

/** A part of the answer of a read, or what went wrong in the place of an answer. */
export const readAnswerSchema = z.object({
  take: whole,
  part: whole.max(readPartsMax - 1),
  last: z.boolean(),
  /** The part, in base64; empty for a failure. */
  data: text(Math.ceil(readPartBytesMax / 3) * 4),
  failure: failureSchema.optional(),
});

/** As `helloSchema` has it. */
export type Hello = z.infer<typeof helloSchema>;
/** As `renewalSchema` has it. */
export type Renewal = z.infer<typeof renewalSchema>;
/** The grants of one account. */
export type AccountGrant = z.infer<typeof grantSchema>;
/** As `welcomeSchema` has it. */
export type Welcome = z.infer<typeof welcomeSchema>;
/** As `workSchema` has it. */
export type Work = z.infer<typeof workSchema>;
/** As `takeSchema` has it. */
export type TakeLease = z.infer<typeof takeSchema>;
/** As `leaseSchema` has it. */
export type LeaseReference = z.infer<typeof leaseSchema>;
/** As `leasedTaskSchema` has it. */
export type LeasedTaskMessage = z.infer<typeof leasedTaskSchema>;
/** As `commitSchema` has it. */
export type CommitMessage = z.infer<typeof commitSchema>;
/** As `readRequestSchema` has it. */
export type ReadRequest = z.infer<typeof readRequestSchema>;
/** As `readAnswerSchema` has it. */
export type ReadAnswer = z.infer<typeof readAnswerSchema>;
/** The failure of a read. */
export type ReadFailure = z.infer<typeof failureSchema>;
