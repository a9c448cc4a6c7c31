import { App } from 'aws-cdk-lib';
import { readEnvironment } from '#platform/config.ts';
import { ContextError } from './context/context-options.ts';
import { readDestination } from './context/destination.ts';
import { createStacks } from './stacks/all-stacks.ts';

try {
  createStacks(new App(), readDestination(readEnvironment()));
} catch (error) {
  if (!(error instanceof ContextError)) throw error;
  // The operator's slip, not ours: its lines say all, and a trace of calls would hide them.
  console.error(error.message);
  process.exitCode = 1;
}
