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

/** What may import what. CONTRIBUTING.md has it in words: change both. */
export const importRules: readonly ImportRule[] = [
  { files: /^functions\/((agent|operator)-)?routes\.ts$/, may: ['functions/route.ts'], node: 'none' },
  { files: /^functions\/(route|queues|schedules)\.ts$/, may: [], node: 'none' },
  {
    files: /^functions\//,
    may: ['shared/core/', 'shared/runtime/', 'shared/agent-protocol/', 'docs/openapi.json'],
    answerTypes: true,
    node: 'none',
  },
  { files: /^shared\/core\//, may: ['shared/core/', 'zod'], answerTypes: true, node: 'none' },
  { files: /^shared\/contract\/answers\//, may: ['shared/contract/answers/', 'zod'], node: 'none' },
  { files: /^shared\/contract\//, may: ['shared/contract/', 'shared/core/', 'zod'], node: 'none' },
  { files: /^shared\/aws\//, may: ['shared/core/', 'shared/aws/', '@aws-sdk/', '@smithy/'], node: 'pure' },
  {
    files: /^shared\/providers\/(index|operation-providers)\.ts$/,
    may: ['shared/core/', 'shared/providers/[^/]+/index\\.ts$'],
    node: 'none',
  },
  {
    files: /^shared\/providers\/account-form\.ts$/,
    may: ['shared/providers/kubernetes/account/go-clouddriver-form.ts'],
    node: 'none',
  },
  {
    files: /^shared\/agent-protocol\//,
    may: ['shared/core/', 'shared/agent-protocol/', 'zod', 'protobufjs'],
    node: 'none',
  },
  { files: /^shared\/threads\//, may: ['shared/core/', 'shared/threads/'], node: 'any' },
  { files: /^shared\/oci\//, may: ['shared/core/', 'shared/threads/', 'shared/oci/'], node: 'any' },
  {
    files: /^shared\/providers\/([^/]+)\//,
    may: [
      ...['shared/core/', 'shared/oci/', 'shared/threads/', 'shared/providers/$1/', 'undici'],
      ...['fast-xml-parser', 'ipaddr.js', 'modern-tar', 'zod', 'yaml', '@kubernetes/client-node'],
    ],
    answerTypes: true,
    node: 'any',
  },
  {
    files: /^shared\/runtime\//,
    may: [
      ...['shared/core/', 'shared/aws/', 'shared/providers/', 'shared/runtime/', 'shared/agent-protocol/'],
      ...['functions/routes.ts', 'functions/agent-routes.ts', 'functions/operator-routes.ts', '@middy/'],
      ...['@aws-', 'aws-lambda', 'jose', 'yaml', 'zod'],
    ],
    answerTypes: true,
    node: 'any',
  },
  {
    files: /^infra\/local\//,
    may: [
      ...['infra/local/', 'shared/core/', 'shared/runtime/', 'shared/agent-protocol/hint-frames.ts'],
      ...['shared/aws/tables.ts', 'functions/[a-z-]+\\.ts$'],
    ].concat(['@aws-sdk/', 'esbuild', 'ws', 'yaml', 'aws-lambda']),
    node: 'any',
  },
  {
    files: /^infra\/host\//,
    may: [
      ...['infra/host/', 'infra/local/', 'shared/core/', 'shared/runtime/', 'shared/agent-protocol/'],
      ...['shared/providers/kubernetes/', 'shared/aws/tables.ts', 'functions/[a-z-]+\\.ts$'],
    ].concat(['@aws-sdk/', '@grpc/grpc-js', 'aws-lambda']),
    node: 'any',
  },
  {
    files: /^infra\/agent\//,
    may: [
      ...['infra/agent/', 'infra/local/build.ts', 'shared/core/', 'shared/agent-protocol/'],
      ...['shared/providers/kubernetes/', 'shared/aws/identity/gateway-signer.ts'],
      ...['shared/runtime/config.ts', 'shared/runtime/garbage.ts', 'shared/runtime/services/logger.ts'],
      ...['shared/runtime/services/system.ts', 'package.json', '@grpc/grpc-js', 'undici', 'yaml'],
    ],
    node: 'any',
  },
  {
    files: /^infra\/check\//,
    may: [
      ...['infra/check/', 'infra/[a-z-]+\\.ts$', 'infra/stacks/', 'shared/core/'],
      ...['shared/runtime/settings/settings.ts', '@aws-sdk/', '@smithy/types', 'aws-cdk-lib', 'commander'],
    ],
    node: 'any',
  },
  {
    files: /^infra\//,
    may: [
      ...['infra/', 'shared/core/metrics.ts', 'shared/core/tasks/payload-limit.ts'],
      ...['shared/core/request-limits.ts', 'shared/aws/tables.ts', 'shared/runtime/config.ts'],
      ...['functions/[a-z-]+\\.ts$', 'aws-cdk-lib', 'constructs', 'commander', 'esbuild'],
    ],
    node: 'any',
  },
  {
    files: /^cli\//,
    may: [
      ...['cli/', 'shared/core/', 'shared/runtime/config.ts', 'shared/runtime/services/system.ts'],
      ...['shared/runtime/settings/settings.ts', 'shared/providers/kubernetes/transport/', 'package.json'],
      ...['commander', 'yaml'],
    ],
    node: 'any',
  },
  { files: /^test\//, may: ['.'], node: 'any' },
];
