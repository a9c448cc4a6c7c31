import { parseReference } from './download/account-downloader.ts';
import { tokenCredentialFields } from './download/authorization.ts';
import type { OpenedSources, SourceOptions } from './download/source.ts';
import { openFileHost } from './hosted-files.ts';

/** The additional fields of a GitLab account. */
export const gitLabAccountFields = tokenCredentialFields;

/**
 * The accounts of `artifacts.gitlab`: files of repositories at gitlab.com or a self-managed server. The reference is a URL of the API that
 * returns a raw file, the version a branch, tag or commit: `master` by default, as in Clouddriver.
 */
export function openGitLabSources(options: SourceOptions): OpenedSources {
  return openFileHost(
    {
      ...{ kind: 'gitlab', types: ['gitlab/file'], fields: gitLabAccountFields },
      origins: ['https://gitlab.com'],
      toTokenHeaders: (token) => ({ 'private-token': token }),
      toUrl(artifact) {
        const url = parseReference(artifact);
        url.searchParams.set('ref', artifact.version || 'master');
        return url;
      },
    },
    options,
  );
}
