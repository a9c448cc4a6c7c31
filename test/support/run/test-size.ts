/**
 * The two forms of a test that takes the longer the more it tries: `npm test` runs the short one of each, `npm run soak` the long
 * ones. By hand: `TEST_SIZE=long npx vitest run test/acceptance/tasks/crash.slow.test.ts`.
 */
export interface TestSizes<T> {
  readonly short: T;
  readonly long: T;
}

/**
 * Chooses by the environment: `TEST_SIZE` is `short`, the default, or `long`.
 *
 * @throws Error for any other value
 */
export function chooseSize<T>(sizes: TestSizes<T>): T {
  const { TEST_SIZE: size = 'short' } = process.env;
  if (size === 'short' || size === 'long') return sizes[size];
  throw new Error(`TEST_SIZE: expected 'short' or 'long', not '${size}'`);
}
