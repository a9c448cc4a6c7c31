import { describe, test } from 'vitest';
import type { JavaEngine, JavaEngineName } from './java-engines.ts';
import { getJars, JavaEngineUnavailableError, javaEngines, startJavaEngine } from './java-engines.ts';

/**
 * `describe` for tests that need an engine on Java. Where it cannot run they are skipped, with the reason as the title of
 * the skipped test. Its first use on a machine downloads it.
 *
 * @param define registers the tests, which may start the engine
 */
export async function describeWithJavaEngine(
  name: JavaEngineName,
  define: (start: () => Promise<JavaEngine>) => void,
): Promise<void> {
  const { title } = javaEngines[name];
  try {
    const jars = await getJars(name);
    describe(title, () => define(() => startJavaEngine(name, jars)));
  } catch (error) {
    if (!(error instanceof JavaEngineUnavailableError)) throw error;
    console.log(`${title}: no test ran. ${error.message}`);
    describe(title, () => test.skip(`skipped: ${error.message}`));
  }
}
