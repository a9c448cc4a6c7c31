import { findGuide, listGuides } from './guides.ts';

const list = `Usage: npm run new -- WHAT

Prints what belongs to a new …

${listGuides()
  .map((line) => `  ${line}`)
  .join('\n')}`;

const [what, ...others] = process.argv.slice(2);
const guide = what === undefined || others.length > 0 ? undefined : findGuide(what);
if (what === undefined || what === '--help') console.log(list);
else if (guide !== undefined) console.log(guide);
else {
  const wrong = others.length > 0 ? 'one name is expected' : `there is no '${what}'`;
  console.error(`npm run new: ${wrong}.\n\n${list}`);
  process.exitCode = 2;
}
