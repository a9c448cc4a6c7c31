import { getErrorMessage } from '#core/errors.ts';
import { readEnvironment } from '#platform/config.ts';
import { findGuide, guides } from './guides.ts';
import { makeProvider } from './new-provider.ts';

const names = Object.entries(guides).map(([name, text]) => `  ${name.padEnd(15)} ${text.split('\n')[0]}`);
const list = `Usage: npm run new -- WHAT, or npm run new -- provider NAME\n\nPrints what belongs to a new …\n\n${names.join('\n')}`;

const [what, ...others] = process.argv.slice(2);
const guide = what === undefined || others.length > 0 ? undefined : findGuide(what);
if (what === undefined || what === '--help') console.log(list);
else if (guide !== undefined) console.log(guide);
else if (what === 'provider' && others.length === 1) await newProvider(others[0] ?? '');
else refuse(others.length > 0 ? 'one name is expected' : `there is no '${what}'`, `.\n\n${list}`);

/** In the folder of the user, which npm leaves for that of the project. */
async function newProvider(name: string): Promise<void> {
  try {
    const folder = await makeProvider(name, readEnvironment()['INIT_CWD'] ?? process.cwd());
    console.log(`${folder} is a package with a provider: docs/providers.md explains its parts`);
  } catch (error) {
    refuse(getErrorMessage(error));
  }
}

function refuse(reason: string, advice = ''): void {
  console.error(`npm run new: ${reason}${advice}`);
  process.exitCode = 2;
}
