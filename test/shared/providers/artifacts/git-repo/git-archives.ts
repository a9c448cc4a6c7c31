import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import type { JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { SourceOptions } from '#providers/artifacts/download/source.ts';
import { openGitRepoSources } from '#providers/artifacts/git-repo/git-repo.ts';
import { createTestOptions, neverAborted, readBytes } from '../options.ts';

/** What stands in an archive, by its path. */
export interface ArchivedFile {
  readonly type: string | undefined;
  readonly mode: number | undefined;
  readonly timeS: number;
  readonly linkname: string | undefined;
  readonly content: string | undefined;
}

/** Opens the account `repos`. */
export function openGitAccount(
  account: JsonObject = {},
  more: Partial<SourceOptions> = {},
  shared: JsonObject = {},
) {
  const gitRepo = { enabled: true, accounts: [{ name: 'repos', ...account }], ...shared };
  const settings = { artifacts: { urlRestrictions: { allowedIps: ['127.0.0.1'] }, gitRepo } };
  const { sources, rejectedAccounts } = openGitRepoSources({ ...createTestOptions(settings), ...more });
  const [source] = sources;
  return {
    rejectedAccounts,
    async fetch(artifact: Artifact, signal = neverAborted()): Promise<Uint8Array> {
      if (source === undefined) throw new Error(JSON.stringify(rejectedAccounts));
      return readBytes((await source.fetch({ type: 'git/repo', ...artifact }, signal)).body);
    },
    open: async (artifact: Artifact, signal = neverAborted()) =>
      source?.fetch({ type: 'git/repo', ...artifact }, signal),
    async [Symbol.asyncDispose]() {
      for (const opened of sources) await opened[Symbol.asyncDispose]();
    },
  };
}

/** Everything in a compressed tar, in its order. */
export async function readArchive(tgz: Uint8Array): Promise<ReadonlyMap<string, ArchivedFile>> {
  const entries = await unpackTar(gunzipSync(tgz));
  return new Map(
    entries
      .filter(({ header }) => header.type !== 'pax-global-header')
      .map(({ header, data }) => [
        header.name,
        {
          type: header.type,
          mode: header.mode,
          timeS: Number(header.mtime ?? 0) / 1000,
          linkname: header.linkname,
          content: data === undefined ? undefined : Buffer.from(data).toString('latin1'),
        },
      ]),
  );
}
