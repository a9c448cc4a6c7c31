import path from 'node:path';
import { buildLocal } from '#infra/tools/build/build.ts';
import { runTool } from '#infra/tools/build/run-tool.ts';

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

if (import.meta.main) await runTool(() => buildAgent(path.resolve(import.meta.dirname, '../..')));
