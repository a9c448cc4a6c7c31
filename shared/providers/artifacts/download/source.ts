import type { AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import type { ArtifactAccount } from '#contract/answers/artifacts.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { ArtifactContent, ProviderContext } from '#provider-kit/provider.ts';
import type { DownloadLimits } from './download-limits.ts';

/** An opened artifact account. */
export interface ArtifactSource extends ArtifactAccount, AsyncDisposable {
  /** Whether it fetches artifacts of this type. */
  handles(type: string): boolean;
  /**
   * Fetches an artifact of a type that it handles.
   *
   * @throws InvalidInputError, NotFoundError, AccessDeniedError, UnavailableError or FailedOperationError.
   */
  fetch(artifact: Artifact, signal: AbortSignal): Promise<ArtifactContent>;
  /** The names of all its artifacts. Undefined for kinds that cannot list them. @throws as `fetch`. */
  listNames?(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The versions of an artifact, newest first as far as the host sorts them. Undefined for kinds that cannot list them.
   *
   * @throws like `fetch`; InvalidInputError if there is no artifact of that name.
   */
  listVersions?(name: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** The options of opening the accounts of one kind of artifact. */
export interface SourceOptions extends ProviderContext {
  /** Limits of a download. Default: `downloadLimits`, with the settings' limit of bytes. */
  readonly limits?: Partial<DownloadLimits>;
}

/** The accounts of one kind of artifact. */
export interface OpenedSources {
  readonly sources: readonly ArtifactSource[];
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** Warnings about settings of the kind that have no effect. Default: none. */
  readonly warnings?: readonly AccountWarning[];
}

/**
 * Opens the accounts of one kind of artifact from the settings. Rejects an unusable account, and never throws for it. Makes no network
 * call.
 */
export type OpenSources = (options: SourceOptions) => OpenedSources;
