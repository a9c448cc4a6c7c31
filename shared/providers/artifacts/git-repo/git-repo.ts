import type { AccountWarning } from '#accounts/model/account.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import { booleanField, intField, jsonObjectField, nameListField, stringField } from '#settings/coerce.ts';
import { getSetting } from '#settings/spring-config.ts';
import { readDownloadBytesMax, startAccountDownloader } from '../download/account-downloader.ts';
import {
  type ConfiguredAccount,
  type OpenedAccount,
  openConfiguredAccounts,
  parseSettings,
} from '../download/account-settings.ts';
import {
  assertCredentialsUsable,
  basicCredentialFields,
  tokenCredentialFields,
} from '../download/authorization.ts';
import { createSlots } from '../download/download-slots.ts';
import type { OpenedSources, SourceOptions } from '../download/source.ts';
import { parsePattern } from '../download/url-restrictions.ts';
import { type CloneLimits, cloneLimits, deployedFolderBytesMax } from '../git/clone-limits.ts';
import { openGitAuthorizer } from './git-authorization.ts';
import { parseSshIdentity } from './git-ssh-identity.ts';

/** Repositories read at once for one account: each may fill a part of the disk. */
export const clonesPerAccountMax = 4;

const { username, password } = basicCredentialFields;

/** The additional fields of a git account. */
export const gitRepoAccountFields = {
  username,
  password,
  ...tokenCredentialFields,
  githubApp: jsonObjectField(),
  sshPrivateKeyFilePath: stringField(),
  sshPrivateKeyPassphrase: stringField(),
  sshPrivateKeyPassphraseCmd: stringField(),
  sshKnownHostsFilePath: stringField(),
  sshTrustUnknownHosts: booleanField(),
  allowedHosts: nameListField(),
};

const section = 'artifacts.gitRepo';

/** Settings for all git accounts, below `artifacts.gitRepo`. No repository is kept, so three of them have no effect. */
export const gitRepoSharedFields = {
  validGitUrlRegex: stringField(),
  cloneRetentionMinutes: intField({ min: -1, max: Number.MAX_SAFE_INTEGER }),
  cloneRetentionMaxBytes: intField({ min: -1, max: Number.MAX_SAFE_INTEGER }),
  cloneWaitLockTimeoutSec: intField({ min: 0, max: Number.MAX_SAFE_INTEGER }),
};

/**
 * The accounts of `artifacts.gitRepo`: trees of git repositories, each as a compressed tar. The reference is the URL of the repository, the
 * version a branch, tag or commit. SSH works only on one machine, which has the program `ssh`.
 */
export function openGitRepoSources(options: SourceOptions): OpenedSources {
  const kind = { kind: 'gitRepo', type: 'git/repo', types: ['git/repo'], open: openGitRepoAccount };
  const opened = openConfiguredAccounts(kind, options);
  return opened.sources.length === 0 ? opened : { ...opened, warnings: listIdleSettings(options.settings) };
}

/** Clones are never kept. The other two settings of clones say how to keep them, and without minutes Clouddriver keeps none, either. */
function listIdleSettings(configuration: JsonObject): readonly AccountWarning[] {
  const { cloneRetentionMinutes = 0 } = readSharedSettings(configuration);
  if (cloneRetentionMinutes === 0) return [];
  const reason =
    `${section}.cloneRetentionMinutes: no clone is kept: each fetch reads the tip of its branch or tag anew. ` +
    'cloneRetentionMaxBytes and cloneWaitLockTimeoutSec have no effect, either';
  return [{ message: 'setting of no effect', reason }];
}

function openGitRepoAccount(account: ConfiguredAccount, options: SourceOptions): OpenedAccount {
  const { name, context } = account;
  const settings = parseSettings(gitRepoAccountFields, account.settings, context);
  const { allowedHosts: _, sshTrustUnknownHosts: __, githubApp: ___, ...texts } = settings;
  assertCredentialsUsable(texts, context, options.placement);
  const identity = parseSshIdentity(settings, context, options.placement);
  const downloader = startAccountDownloader(account, options);
  const allowedHosts = (settings.allowedHosts ?? []).map((host) => host.toLowerCase());
  const pattern = readPattern(options.settings);
  const git = { account, settings, downloader, identity };
  const { type: authType, authorize } = openGitAuthorizer(git, options);
  const slots = createSlots(clonesPerAccountMax, `Artifact account '${name}'`);
  const limits = toLimits(options);
  return {
    async fetch(artifact, signal) {
      const { findThreads, openTransport, parseGitReference, parseSubPath, readRepository } = await import(
        './git-reader.ts'
      );
      const reference = parseGitReference(artifact, { allowedHosts, pattern, authType });
      const request = { version: artifact.version || undefined, subPath: parseSubPath(artifact) };
      await using transport = openTransport(reference, { account, options, downloader, authorize, identity });
      signal.throwIfAborted();
      const release = slots.take();
      const threads = findThreads(options);
      const reading = { account: name, threads, limits, signal, nowMs: options.clock.now(), release };
      return { body: await readRepository(transport, request, reading) };
    },
    [Symbol.asyncDispose]: () => downloader[Symbol.asyncDispose](),
  };
}

/** @throws InvalidInputError if a setting for all accounts is invalid. */
function readPattern(configuration: JsonObject): RegExp | undefined {
  const { validGitUrlRegex } = readSharedSettings(configuration);
  return validGitUrlRegex ? parsePattern(validGitUrlRegex, `${section}: validGitUrlRegex`) : undefined;
}

function readSharedSettings(configuration: JsonObject) {
  const settings = asJsonObject(getSetting(configuration, section)) ?? {};
  return parseSettings(gitRepoSharedFields, settings, section);
}

function toLimits({ settings, placement, limits }: SourceOptions): CloneLimits {
  const bytesMax = readDownloadBytesMax(settings) ?? limits?.bytesMax ?? cloneLimits.treeBytesMax;
  return {
    ...cloneLimits,
    treeBytesMax: bytesMax,
    ...(placement === 'deployed' && { folderBytesMax: deployedFolderBytesMax }),
  };
}
