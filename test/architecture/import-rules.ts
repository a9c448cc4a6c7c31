/** What some files may import. */
export interface ImportRule {
  /** Which files the rule is for; the first rule that matches counts. */
  readonly files: RegExp;
  /** What they may import: paths from the root, or packages. `$1` is the first group of `files`. */
  readonly may: readonly string[];
  /** Whether they may, with `import type`, import the types of answers from `shared/contract/answers/`, too. */
  readonly answerTypes?: true;
  /** Modules of Node that they may import: any, only those without input or output, or none. */
  readonly node: 'any' | 'pure' | 'none';
}

/** Pattern of rules: what Busdriver knows by itself, without input or output. */
export const rules: string = [
  ...['core', 'access', 'accounts', 'accounts/model', 'agents', 'artifact-store', 'caching/scheduling'],
  ...['caching/scheduling/streams', 'caching/store', 'platform/ports', 'provider-kit', 'settings', 'tasks'],
  ...['tasks/requests', 'views'],
]
  .map((folder) => `shared/${folder}/[^/]+\\.ts$`)
  .join('|');

/** Stores, queues and signers: rules carried out in AWS. */
const adapters = 'shared/[a-z-]+/aws/';

/** All that the subjects have but their adapters: rules, what is opened, and the edges. */
const subjects = 'shared/(?!contract/|oci/|providers/|threads/|[a-z-]+/aws/)';

/** The same without the edges: requests, messages of queues, schedules. */
const opened = 'shared/(?!contract/|oci/|providers/|threads/|[a-z-]+/aws/|([a-z-]+/)?(http|events)/)';

/** Packages of what is opened, and of the edges. */
const packages = ['@middy/', '@aws-', 'aws-lambda', 'jose', 'yaml', 'zod'];

/** The tables of functions. */
const tables = 'functions/[a-z-]+\\.ts$';

/** What may import what. CONTRIBUTING.md has the four kinds of code in words. */
export const importRules: readonly ImportRule[] = [
  {
    files: /^functions\/((agent-|operator-)?routes|queues|schedules)\.ts$/,
    may: ['functions/route.ts'],
    node: 'none',
  },
  { files: /^functions\/route\.ts$/, may: [], node: 'none' },
  { files: /^functions\//, may: [subjects, 'docs/openapi.json'], answerTypes: true, node: 'none' },
  { files: new RegExp(`^(?:${rules})`), may: [rules, 'zod'], answerTypes: true, node: 'none' },
  { files: /^shared\/contract\/answers\//, may: ['shared/contract/answers/', 'zod'], node: 'none' },
  { files: /^shared\/contract\//, may: ['shared/contract/', rules, 'zod'], node: 'none' },
  { files: new RegExp(`^${adapters}`), may: [rules, adapters, '@aws-sdk/', '@smithy/'], node: 'pure' },
  {
    files: /^shared\/providers\/(index|operation-providers)\.ts$/,
    may: [rules, 'shared/providers/[^/]+/index\\.ts$'],
    node: 'none',
  },
  {
    files: /^shared\/providers\/account-form\.ts$/,
    may: ['shared/providers/kubernetes/account/go-clouddriver-form.ts'],
    node: 'none',
  },
  {
    files: /^shared\/agents\/protocol\//,
    may: [rules, 'shared/agents/protocol/', 'zod', 'protobufjs'],
    node: 'none',
  },
  { files: /^shared\/threads\//, may: ['shared/core/', 'shared/threads/'], node: 'any' },
  { files: /^shared\/oci\//, may: [rules, 'shared/threads/', 'shared/oci/'], node: 'any' },
  {
    files: /^shared\/providers\/([^/]+)\//,
    may: [
      ...[rules, 'shared/oci/', 'shared/threads/', 'shared/providers/$1/', 'undici'],
      ...['fast-xml-parser', 'ipaddr.js', 'modern-tar', 'zod', 'yaml', '@kubernetes/client-node'],
    ],
    answerTypes: true,
    node: 'any',
  },
  {
    files: /^shared\/(?!([a-z-]+\/)?(http|events)\/)/,
    may: [opened, adapters, 'shared/providers/', tables, ...packages],
    answerTypes: true,
    node: 'any',
  },
  {
    files: /^shared\//,
    may: [subjects, adapters, 'shared/providers/', tables, ...packages],
    answerTypes: true,
    node: 'any',
  },
  {
    files: /^infra\/options\.ts$/,
    may: ['shared/core/', 'shared/platform/config.ts', 'commander'],
    node: 'any',
  },
  {
    files: /^infra\/server\//,
    may: [
      'infra/server/',
      subjects,
      'shared/platform/aws/tables.ts',
      tables,
      '@aws-sdk/',
      'ws',
      'aws-lambda',
    ],
    node: 'any',
  },
  {
    files: /^infra\/local\//,
    may: [
      ...['infra/local/', 'infra/server/', 'infra/options.ts', 'infra/tools/test-cluster/', subjects],
      ...['shared/platform/aws/tables.ts', tables, '@aws-sdk/', 'aws-lambda'],
    ],
    node: 'any',
  },
  {
    files: /^infra\/kubernetes\//,
    may: [
      ...['infra/kubernetes/', 'infra/server/', 'infra/options.ts', 'infra/tools/build/'],
      ...[subjects, 'shared/providers/kubernetes/', 'shared/platform/aws/tables.ts', tables],
    ].concat(['@aws-sdk/', '@grpc/grpc-js', 'aws-lambda']),
    node: 'any',
  },
  {
    files: /^infra\/agent\//,
    may: [
      ...['infra/agent/', 'infra/tools/build/', rules, 'shared/agents/protocol/'],
      ...['shared/providers/kubernetes/', 'shared/platform/aws/identity/gateway-signer.ts'],
      ...['shared/platform/config.ts', 'shared/platform/garbage.ts', 'shared/platform/services/logger.ts'],
      ...['shared/platform/services/system.ts', 'package.json', '@grpc/grpc-js', 'undici', 'yaml'],
    ],
    node: 'any',
  },
  {
    files: /^infra\/tools\/deploy-check\//,
    may: [
      ...['infra/tools/deploy-check/', 'infra/aws/context/', 'infra/aws/stacks/', 'shared/core/'],
      ...[
        rules,
        'shared/settings/live/settings.ts',
        '@aws-sdk/',
        '@smithy/types',
        'aws-cdk-lib',
        'infra/options.ts',
      ],
    ],
    node: 'any',
  },
  {
    files: /^infra\/tools\//,
    may: ['infra/tools/', 'infra/local/', 'infra/options.ts', subjects, 'esbuild', 'yaml', tables],
    node: 'any',
  },
  {
    files: /^infra\/aws\//,
    may: [
      ...['infra/aws/', 'shared/core/', 'shared/tasks/payload-limit.ts', 'shared/platform/config.ts'],
      ...[
        'shared/platform/aws/tables.ts',
        tables,
        'docs/openapi.json',
        'aws-cdk-lib',
        'constructs',
        'esbuild',
      ],
    ],
    node: 'any',
  },
  {
    files: /^cli\//,
    may: [
      ...['cli/', rules, 'shared/platform/config.ts', 'shared/platform/services/system.ts', 'package.json'],
      ...['shared/settings/live/settings.ts', 'shared/providers/kubernetes/transport/', 'commander', 'yaml'],
    ],
    node: 'any',
  },
  { files: /^test\//, may: ['.'], node: 'any' },
];
