import { basicCredentialFields, tokenCredentialFields } from './download/authorization.ts';
import type { OpenedSources, SourceOptions } from './download/source.ts';
import { openFileHost } from './hosted-files.ts';

/** The additional fields of a Bitbucket account. */
export const bitbucketAccountFields = { ...basicCredentialFields, ...tokenCredentialFields };

/**
 * The accounts of `artifacts.bitbucket`: files of repositories at Bitbucket Cloud or a Data Center. The reference is the URL of the file
 * itself, including branch, tag or commit; as in Clouddriver, the artifact's version has no effect.
 */
export function openBitbucketSources(options: SourceOptions): OpenedSources {
  return openFileHost(
    {
      ...{ kind: 'bitbucket', types: ['bitbucket/file'], fields: bitbucketAccountFields },
      origins: ['https://api.bitbucket.org', 'https://bitbucket.org'],
      toTokenHeaders: (token) => ({ authorization: `Bearer ${token}` }),
    },
    options,
  );
}
