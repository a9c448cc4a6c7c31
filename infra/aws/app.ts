import { App } from 'aws-cdk-lib';
import { VisibleError } from '#core/errors.ts';
import { type AddedPackage, addProviders } from '#infra/provider-packages.ts';
import { readEnvironment } from '#platform/config.ts';
import { makeListType, packageType } from './context/context-values.ts';

try {
  const app = new App();
  const packages = makeListType(packageType).parse(app.node.tryGetContext('providers')) ?? [];
  for (const added of await addProviders(packages, import.meta.url)) printGrants(added);
  // Loaded late: options and grants are made of what providers declare.
  const { createStacks } = await import('./stacks/all-stacks.ts');
  const { readDestination } = await import('./context/destination.ts');
  createStacks(app, readDestination(readEnvironment()));
} catch (error) {
  if (!(error instanceof VisibleError)) throw error;
  // The operator's slip, not ours: its lines say all, and a trace of calls would hide them.
  console.error(error.message);
  process.exitCode = 1;
}

/** Shows what the code of a package may do once operators name resources. */
function printGrants({ name, declaration: { awsResources = [] } }: AddedPackage): void {
  for (const { option, actions, generalActions = [], events = [] } of awsResources) {
    const heard = events.map(({ source, detailType }) => `hear '${detailType}' of ${source}`);
    const rights = [...actions, ...generalActions.map((action) => `${action} of all`), ...heard];
    console.error(`${name}: what ${option}s and ${option}Prefixes name lets functions ${rights.join(', ')}`);
  }
}
