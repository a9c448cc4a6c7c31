import { bitbucketAccountFields } from './bitbucket.ts';
import { basicCredentialFields } from './download/authorization.ts';
import { gcsAccountFields } from './gcs.ts';
import { gitRepoAccountFields, gitRepoSharedFields } from './git-repo/git-repo.ts';
import { gitHubAccountFields } from './github.ts';
import { gitLabAccountFields } from './gitlab.ts';
import { helmAccountFields } from './helm/helm.ts';
import { helmOciAccountFields, helmOciFileSettings } from './helm/helm-oci.ts';
import { jenkinsAccountFields } from './jenkins.ts';
import { ivyAccountFields } from './maven/ivy.ts';
import { mavenAccountFields } from './maven/maven.ts';
import { oracleAccountFields } from './oracle.ts';
import { s3AccountFields, s3ClientSettings } from './s3.ts';

/** Options that accounts of all kinds have. */
const sharedOptions = ['name', 'urlRestrictions'];

/** Those of accounts whose artifacts are URLs. */
const originOptions = ['credentialOrigins'];

const accountOptions = {
  bitbucket: [...originOptions, ...Object.keys(bitbucketAccountFields)],
  gcs: Object.keys(gcsAccountFields),
  github: [...originOptions, ...Object.keys(gitHubAccountFields)],
  gitRepo: [...originOptions, ...Object.keys(gitRepoAccountFields)],
  gitlab: [...originOptions, ...Object.keys(gitLabAccountFields)],
  helm: Object.keys(helmAccountFields),
  helmOci: Object.keys(helmOciAccountFields),
  http: [...originOptions, ...Object.keys(basicCredentialFields)],
  ivy: Object.keys(ivyAccountFields),
  jenkins: Object.keys(jenkinsAccountFields),
  maven: Object.keys(mavenAccountFields),
  oracle: Object.keys(oracleAccountFields),
  s3: Object.keys(s3AccountFields),
};

/**
 * All that is known below `artifacts`. Accounts that Clouddriver has built in are here without being switched on; templates are
 * Halyard's.
 */
export const knownSettings: readonly string[] = [
  'artifacts.urlRestrictions',
  'artifacts.maxDownloadBytes',
  ...Object.entries(accountOptions).flatMap(([kind, options]) => [
    `artifacts.${kind}.enabled`,
    ...[...sharedOptions, ...options].map((option) => `artifacts.${kind}.accounts.*.${option}`),
  ]),
  ...helmOciFileSettings.map((setting) => `artifacts.helmOci.${setting}`),
  ...s3ClientSettings.map((setting) => `artifacts.s3.${setting}`),
  ...Object.keys(gitRepoSharedFields).map((setting) => `artifacts.gitRepo.${setting}`),
  'artifacts.custom',
  'artifacts.docker',
  'artifacts.embedded',
  'artifacts.kubernetes',
  'artifacts.templates',
];
