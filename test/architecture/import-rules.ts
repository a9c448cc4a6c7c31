const folders = [
  'core',
  'access',
  'accounts',
  'accounts/model',
  'agents',
  'artifact-store',
  'caching/scheduling',
]
  .concat([
    'caching/scheduling/streams',
    'caching/engine',
    'caching/store',
    'caching/writer',
    'platform/ports',
    'provider-kit',
    'settings',
    'tasks',
  ])
  .concat(['tasks/requests', 'upstream', 'views']);

/** Pattern of rules: what Busdriver knows by itself, without input or output. */
export const rules: string = folders.map((folder) => `shared/${folder}/[^/]+\\.ts$`).join('|');

/** Stores, queues and signers: rules carried out in AWS. */
const adapters = 'shared/[a-z-]+/aws/';

/** All that the subjects have but their adapters: rules, what is opened, and the edges. */
const subjects = 'shared/(?!contract/|oci/|providers/|threads/|[a-z-]+/aws/)';

/** The same without the edges: requests, messages of queues, schedules. */
const opened = 'shared/(?!contract/|oci/|providers/|threads/|[a-z-]+/aws/|([a-z-]+/)?(http|events)/)';

/** What is opened, and the edges, may import these packages, and adapters and providers. */
const parts = `${adapters} shared/providers/ @middy/ @aws- aws-lambda jose yaml zod`;

/** The tables of functions, and the names of those of DynamoDB. */
const tables = 'functions/[a-z-]+\\.ts$';
const stored = 'shared/platform/aws/tables.ts';

const kubernetes = 'shared/providers/kubernetes/';
/** The Kubernetes provider for what is no part of it: it calls clusters by `calls/`, not by what accounts are read and written with. */
const kubernetesOutside = `${kubernetes}(?!transport/|client/|watch/)`;
const config = 'shared/platform/config.ts';
const system = 'shared/platform/services/system.ts';
/** Schemas of answers, and types of them alone. */
const answers = 'shared/contract/answers/';
const answerTypes = `type:${answers}`;
/** Modules of Node: those that neither read nor write anything outside the process, and any. */
const pure = 'node:(buffer|crypto|util|zlib)$';
const node = 'node:';

/**
 * What files may import, by the pattern of their paths: the first that matches counts. Patterns of paths from the root, or of packages, by
 * spaces; `$1` is the first group of the path, `type:` is by `import type` alone. CONTRIBUTING.md has the four kinds of code in words.
 */
export const importRules: { readonly [files: string]: string } = {
  'functions/((agent-|operator-|upstream-)?routes|queues|schedules)\\.ts$':
    'functions/route.ts shared/views/inventories.ts shared/providers/declarations.ts type:shared/provider-kit/declaration.ts',
  'functions/route\\.ts$': '',
  'functions/': `${subjects} docs/openapi.json ${answerTypes}`,
  [rules]: `${rules} zod ${answerTypes}`,
  [answers]: `${answers} zod`,
  'shared/contract/': `shared/contract/ ${rules} zod`,
  [adapters]: `${rules} ${adapters} @aws-sdk/ @smithy/ ${pure}`,
  'shared/providers/(index|plugins|added)\\.ts$': `${rules} shared/providers/(plugins|added)\\.ts$ shared/providers/[^/]+/index\\.ts$`,
  'shared/providers/(declarations|declared)\\.ts$':
    'shared/provider-kit/declaration.ts shared/providers/(declared|added)\\.ts$ shared/providers/[^/]+/declaration\\.ts$',
  'shared/providers/[^/]+/declaration\\.ts$': '',
  'shared/providers/account-form\\.ts$': `${kubernetes}account/go-clouddriver-form.ts`,
  'shared/agents/protocol/': `${rules} shared/agents/protocol/ zod protobufjs`,
  'shared/threads/': `shared/core/ shared/threads/ ${node}`,
  'shared/provider-kit/http-client/': `shared/core/ shared/provider-kit/http-client/ ipaddr.js ${node}`,
  'shared/oci/': `${rules} shared/threads/ shared/oci/ ${node}`,
  'shared/providers/([^/]+)/': `${rules} shared/oci/ shared/provider-kit/http-client/ shared/threads/ shared/providers/$1/
    diff undici fast-xml-parser ipaddr.js modern-tar zod yaml @kubernetes/client-node @aws-sdk/client- ${answerTypes} ${node}`,
  'shared/(?!([a-z-]+/)?(http|events)/)': `${opened} ${parts} ${tables} ${answerTypes} ${node}`,
  'shared/': `${subjects} ${parts} ${tables} ${answerTypes} ${node}`,
  'infra/options\\.ts$': `shared/core/ ${config} commander ${node}`,
  'infra/provider-packages\\.ts$': `${rules} shared/providers/(added|index|declarations)\\.ts$ ${node}`,
  'infra/server/': `infra/server/ ${subjects} ${stored} ${tables} @aws-sdk/ ws prom-client aws-lambda ${node}`,
  'infra/local/': `infra/local/ infra/server/ infra/(options|provider-packages)\\.ts$ infra/tools/test-cluster/ ${subjects} ${stored}
    ${tables} @aws-sdk/ aws-lambda ${node}`,
  'infra/kubernetes/': `infra/kubernetes/ infra/server/ infra/(options|provider-packages)\\.ts$ infra/tools/build/ ${subjects}
    ${kubernetesOutside} ${stored} ${tables} @kubernetes/client-node @aws-sdk/ @grpc/grpc-js aws-lambda ${node}`,
  'infra/agent/': `infra/agent/ infra/tools/build/ prom-client ${rules} shared/agents/protocol/ ${kubernetesOutside}
    shared/platform/aws/identity/gateway-signer.ts ${config} shared/platform/garbage.ts ${system}
    shared/platform/services/logger.ts package.json @grpc/grpc-js @kubernetes/client-node undici yaml ${node}`,
  'infra/tools/deploy-check/': `infra/tools/deploy-check/ infra/aws/context/ infra/aws/stacks/ infra/options.ts
    shared/core/ ${rules} shared/settings/live/settings.ts @aws-sdk/ @smithy/types aws-cdk-lib ${node}`,
  'infra/tools/': `infra/tools/ infra/local/ infra/options.ts package.json ${subjects} esbuild modern-tar yaml ${tables} ${node}`,
  'infra/aws/': `infra/aws/ infra/provider-packages.ts shared/core/ shared/tasks/payload-limit.ts shared/providers/declarations.ts ${config} ${stored} ${tables}
    docs/openapi.json aws-cdk-lib constructs esbuild ${node}`,
  'cli/': `cli/ ${rules} ${config} ${system} package.json shared/settings/live/settings.ts
    ${kubernetes}(calls/|api/errors.ts) @aws-sdk/client-sts @kubernetes/client-node commander yaml ${node}`,
  'test/': '.',
};
