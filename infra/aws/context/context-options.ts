import type { IConstruct } from 'constructs';
import { VisibleError } from '#core/errors.ts';
import { findNearName } from '#core/near-name.ts';
import { type Context, contextTable } from './context.ts';
import { findContradictions } from './context-rules.ts';
import { type Destination, findMisplaced } from './destination.ts';

/** Context options that cannot be accepted. The message has one line for each. */
export class ContextError extends VisibleError {
  override readonly name = 'ContextError';

  constructor(problems: readonly string[]) {
    super(['The context options cannot be accepted:', ...problems.map((one) => `  ${one}`)].join('\n'));
  }
}

/** Names of all options. */
export const contextOptions: readonly string[] = Object.keys(contextTable);

/** Whatever knows the options of the app: a construct of it, or what stands for one where the CDK is not loaded. */
export interface ContextHolder {
  readonly node: Pick<IConstruct['node'], 'getAllContext' | 'tryGetContext'>;
}

/**
 * Reads the context options of an app.
 *
 * @param destination where the stacks go, as far as it is known
 * @throws ContextError with every option that is unknown, of another form than expected, contradicts another one, or names what
 *   cannot be used where the stacks go.
 */
export function readContext({ node }: ContextHolder, destination: Destination = {}): Context {
  const problems = findUnknownOptions(node.getAllContext());
  const entries = Object.entries(contextTable).map(([name, { type, otherwise }]) => {
    const given: unknown = node.tryGetContext(name);
    const value: unknown = given === undefined ? otherwise : type.parse(given);
    if (given !== undefined && value === undefined)
      problems.push(`${name}: expected ${type.expected}, not ${JSON.stringify(given)}`);
    return [name, value];
  });
  const context = Object.fromEntries(entries) as Context;
  if (problems.length === 0)
    problems.push(...findContradictions(context), ...findMisplaced(context, destination));
  if (problems.length > 0) throw new ContextError(problems);
  return context;
}

/** CDK's own keys have a colon, a slash or a dash in them; any other word that we do not know is a slip of the pen. */
function findUnknownOptions(given: { readonly [name: string]: unknown }): string[] {
  return Object.keys(given)
    .filter((name) => /^[A-Za-z]+$/.test(name) && !contextOptions.includes(name))
    .map((name) => {
      const near = findNearName(name, contextOptions);
      const advice = near === undefined ? '' : `did you mean '${near}'? `;
      return `${name}: ${advice}Expected one of ${contextOptions.join(', ')}`;
    });
}
