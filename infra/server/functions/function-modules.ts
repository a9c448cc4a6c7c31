/**
 * Imports the module of a function. Bundles have another file in the place of this one, which `joinFunctions` of `build.ts` makes: it
 * holds all functions.
 *
 * @param module path below `functions/`, without extension
 * @throws Error when there is no such module
 */
export async function importFunction(module: string): Promise<{ readonly handler?: unknown }> {
  // Vite, which runs the tests, would otherwise replace the pattern by one that reaches no folder below.
  return await import(/* @vite-ignore */ `#functions/${module}.ts`);
}
