import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { getErrorMessage } from '#core/errors.ts';
import { buildLocal } from '#infra/tools/build/build.ts';

/**
 * Bundles the agent, unless that is up to date.
 *
 * @param root Busdriver's own folder, absolute
 * @param outputDir where the bundle goes, absolute. Default `dist/agent`
 * @returns the file that Node runs
 * @throws Error when the sources do not compile
 */
export async function buildAgent(
  root: string,
  outputDir = path.join(root, 'dist', 'agent'),
): Promise<string> {
  const entries = ['infra/agent/main.ts'];
  // An agent reaches its own cluster alone.
  const absent = ['@aws-sdk/client-eks'];
  await buildLocal({ root, outputDir, entries, absent, shortensNames: true, report: console.error });
  return path.join(outputDir, 'main.js');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await buildAgent(path.resolve(import.meta.dirname, '../..'));
  } catch (error) {
    console.error(getErrorMessage(error));
    process.exitCode = 1;
  }
}
