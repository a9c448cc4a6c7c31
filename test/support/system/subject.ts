import { it } from 'vitest';
import { configureDeployedSystem, findDeployment } from './deployed-system.ts';
import { type StartSystemOptions, type Subject, startSystem } from './system.ts';

/**
 * What an acceptance test is about: the deployed system, with the test's accounts, in `npm run test:deploy`; else the system on
 * this machine. The deployed one is one for all tests: they use it one after the other.
 */
export async function startSubject(options: StartSystemOptions = {}): Promise<Subject> {
  const deployment = findDeployment();
  return deployment === undefined ? startSystem(options) : configureDeployedSystem(deployment, options);
}

/**
 * `it` for what can be tested on this machine alone. Where the deployed system is tested, the case is skipped, with the reason
 * in its title.
 */
export function itLocally(
  reason: string,
): (title: string, test: () => Promise<void>, timeoutMs?: number) => void {
  if (findDeployment() === undefined) return it;
  return (title) => it.skip(`${title} (not on the deployed stack: ${reason})`);
}
