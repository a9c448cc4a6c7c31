import type { Aws } from '#platform/ports/aws.ts';
import type { CallTurns } from '#platform/ports/lookup.ts';
import type { SharedLookups } from '#platform/ports/shared-lookups.ts';
import type { SecretReader } from '#settings/secret-reference.ts';

/** What the host of a process offers to plug-ins. Nothing is loaded or called before the first use of one. */
export interface HostServices {
  /** Opens AWS. Default: it cannot be reached from here. */
  readonly openAws?: () => Promise<Aws>;
  /** Opens what processes share of their calls to AWS. Default: each process asks for itself. */
  readonly openLookups?: () => Promise<CallSharing>;
  /** Secrets that accounts refer to. Default: none. */
  readonly secrets?: SecretReader;
}

/** How processes share calls to AWS, of which its services allow few a second. */
export interface CallSharing {
  /** Answers that one process finds, and the others read. */
  readonly lookups: Pick<SharedLookups, 'find'>;
  /** Limits how many requests a second find them. */
  readonly pace: CallTurns;
}
