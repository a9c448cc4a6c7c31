import type { AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import type { ArtifactAccount } from '#contract/answers/artifacts.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { ArtifactContent, ProviderOptions } from '#provider-kit/provider.ts';
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
  /**
   * The names of all artifacts that it has. Left out by kinds that cannot tell.
   *
   * @throws as `fetch`.
   */
  listNames?(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * The versions of an artifact, newest first as far as the host sorts them. Left out by kinds that cannot tell.
   *
   * @throws as `fetch`; InvalidInputError when there is no artifact of that name.
   */
  listVersions?(name: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** What the accounts of one kind of artifact are opened with. */
export interface SourceOptions extends ProviderOptions {
  /** How much a download may take. Default: `downloadLimits`, and what the settings say of bytes. */
  readonly limits?: Partial<DownloadLimits>;
}

/** The accounts of one kind of artifact. */
export interface OpenedSources {
  readonly sources: readonly ArtifactSource[];
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** Settings of the kind that are not obeyed. Default: none. */
  readonly warnings?: readonly AccountWarning[];
}

/**
 * How the accounts of one kind of artifact are opened: it takes them from the settings, and never throws for an
 * account that cannot be used but rejects it. Makes no network call.
 */
export type OpenSources = (options: SourceOptions) => OpenedSources;
