import type { Artifact } from '../../core/providers/artifact.ts';
import type { ArtifactAccount, ArtifactContent, ProviderOptions } from '../../core/providers/provider.ts';
import type { RejectedAccount } from '../../core/settings/account.ts';

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
}

/** The accounts of one kind of artifact. */
export interface OpenedSources {
  readonly sources: readonly ArtifactSource[];
  readonly rejectedAccounts: readonly RejectedAccount[];
}

/**
 * How the accounts of one kind of artifact are opened: it takes them from the settings, and never throws for an
 * account that cannot be used but rejects it. Makes no network call.
 */
export type OpenSources = (options: ProviderOptions) => OpenedSources;
