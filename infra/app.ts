import { App } from 'aws-cdk-lib';
import { ContextError } from './context-options.ts';
import { createStacks } from './stacks/all-stacks.ts';

try {
  createStacks(new App());
} catch (error) {
  if (!(error instanceof ContextError)) throw error;
  // The operator's slip, not ours: its lines say all, and a trace of calls would hide them.
  console.error(error.message);
  process.exitCode = 1;
}
