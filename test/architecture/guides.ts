import type { Addition } from './additions.ts';
import { providerAdditions } from './provider-additions.ts';
import { routeAddition } from './route-additions.ts';
import { settingAdditions } from './setting-additions.ts';

/** Everything that there may be one more of. */
export const additions: readonly Addition[] = [routeAddition, ...providerAdditions, ...settingAdditions];

const tables = 'npx vitest run test/architecture/tables.test.ts --update';
const kinds = 'npx vitest run test/shared/providers/kubernetes/kinds';

/** How to add something, by the names that `npm run new` takes: what to begin with, and, after `$`, what to run at the end. */
export const guides: { readonly [name: string]: string } = {
  route: `A route of the API
- a row in functions/routes.ts, with its access, its audit and what it uses
- its module below functions/api/
- out of the cache: made by viewHandler, with a method of ViewReader in shared/views/views.ts, read in shared/providers/kubernetes/reads/
$ npx vitest run test/shared/contract test/acceptance/contract/open-api.test.ts test/acceptance/access`,
  operation: `An operation on manifests
- a file in shared/providers/kubernetes/operations/, and a line in index.ts there
$ npx vitest run test/shared/providers/kubernetes/operations`,
  'v1-operation': `An operation of accounts of the V1 provider
- a file in shared/providers/kubernetes/v1/operations/, and a line in index.ts there
- its fields and rules in shared/providers/kubernetes/v1/descriptions/
- a description in which everything is wrong in test/fixtures/kubernetes-v1/bad-descriptions.yaml: v1-operations.test.ts misses it
$ npx vitest run test/shared/providers/kubernetes/v1/operations test/acceptance/v1/v1-operations.test.ts`,
  kind: `A kind of Kubernetes objects
- a row in shared/providers/kubernetes/kinds/table.ts
- ${tables}
$ ${kinds}`,
  'kind-status': `A status of a kind
- a file in shared/providers/kubernetes/kinds/, named as getStatus in the row of the kind
$ ${tables}
$ ${kinds}`,
  'artifact-type': `A type of artifacts
- a file in shared/providers/artifacts/, and a line below 'kinds' in index.ts there
$ npx vitest run test/shared/providers/artifacts`,
  provider: `A provider: docs/providers.md says what a plug-in is
- as a package: the folder that npm run new -- provider NAME makes, which passes all of it
- in this tree: a folder in shared/providers/ whose index.ts exports a ProviderPlugin, and a line in shared/providers/plugins.ts
- with operations, or resources of AWS: its declaration.ts, and a line in shared/providers/declared.ts
$ npx vitest run test/shared/providers/conformance.cluster.test.ts test/shared/accounts/account-facts.test.ts`,
  setting: `A setting of the environment
- an entry in 'settings' of shared/platform/config.ts, whose docstring is its row in docs/architecture.md
- its value, where stacks or npm start set it: infra/aws/constructs/shared-resources.ts, infra/local/environment.ts
$ npx vitest run test/shared/platform/config.test.ts`,
  'account-option': `An option of Kubernetes accounts
- a field in shared/providers/kubernetes/account/account-fields.ts
- whether functions without secrets may know it: public-settings.ts beside it
$ npx vitest run test/shared/accounts/account-facts.test.ts test/shared/providers/kubernetes/account`,
  'start-option': `An option of npm start
- a flag in infra/local/cli-options.ts
$ npx vitest run test/infra/local`,
  'stack-option': `An option of the stacks
- an option in infra/aws/context/context.ts
- its step in test/deploy/option-steps.ts
$ npx vitest run test/infra test/deploy
$ npm run test:deploy -- --only=update`,
  metric: `A metric
- a constant in shared/core/metrics.ts, and what records it, as files in shared/caching/services/ do
- with an alarm: 'watchedMetrics' of its queue's row in functions/queues.ts
$ npx vitest run test/shared/platform/services test/infra/aws/constructs`,
  alarm: `An alarm
- its construct in infra/aws/constructs/
- a section '### <its name>' below 'Alarms' in docs/operate.md, with '**Means' and '**Do:**', and its name in the table 'What is normal'
- its price in infra/tools/cost/assumptions.ts, then the figures of docs/scale.md and docs/deploy.md
$ npx vitest run test/infra/aws test/infra/tools/cost`,
};

/** How to add something, with what the check asks for; undefined where there is no such guide. */
export function findGuide(name: string): string | undefined {
  if (!Object.hasOwn(guides, name)) return undefined;
  const [what = '', ...lines] = guides[name]?.split('\n') ?? [];
  const needs = additions.filter(({ guide }) => guide === name).flatMap((addition) => addition.listNeeds());
  return [
    what,
    '\nBegin with',
    ...lines.filter((line) => line.startsWith('- ')),
    ...(needs.length > 0 ? ['\nThen add what npm run check misses, here of an example:'] : []),
    ...needs.map((need) => `- ${need}`),
    '\nRun\n$ npm run check',
    ...lines.filter((line) => line.startsWith('$ ')),
  ].join('\n');
}
