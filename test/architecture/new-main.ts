import { findGuide, guides } from './guides.ts';

const names = Object.entries(guides).map(([name, text]) => `  ${name.padEnd(15)} ${text.split('\n')[0]}`);
const list = `Usage: npm run new -- WHAT\n\nPrints what belongs to a new …\n\n${names.join('\n')}`;

const [what, ...others] = process.argv.slice(2);
const guide = what === undefined || others.length > 0 ? undefined : findGuide(what);
if (what === undefined || what === '--help') console.log(list);
else if (guide !== undefined) console.log(guide);
else {
  const wrong = others.length > 0 ? 'one name is expected' : `there is no '${what}'`;
  console.error(`npm run new: ${wrong}.\n\n${list}`);
  process.exitCode = 2;
}
