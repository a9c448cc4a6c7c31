import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#test/architecture/source-files.ts';

/** Commands of a page that are run together, and where they stand. */
export interface PageCommands {
  /** `docs/operate.md:118`. */
  readonly place: string;
  /** As a shell takes it: what a reader is to fill in is filled in. */
  readonly text: string;
}

/** Programs that pages tell people to run. */
const programs = ['aws', 'npm', 'npx', 'jq', 'curl', 'kubectl', 'git'];

/** Every page for people, with its path from the root. */
export function readPages(): ReadonlyMap<string, string> {
  const docs = readdirSync(join(root, 'docs')).map((name) => `docs/${name}`);
  const paths = [...docs, 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'].filter((path) =>
    path.endsWith('.md'),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

/** Every block of shell commands, and every command with options in the midst of a text. */
export function listCommands(pages: ReadonlyMap<string, string>): PageCommands[] {
  return [...pages].flatMap(([path, text]) => {
    const toCommands = (match: RegExpExecArray): PageCommands => {
      const line = text.slice(0, match.index).split('\n').length;
      return { place: `${path}:${line}`, text: fillIn(match[1] ?? '') };
    };
    const blocks = [...text.matchAll(/^```(?:sh|shell|bash|console)\n(.*?)^```$/gms)];
    const inline = [...text.matchAll(inlineCommand)];
    return [...blocks, ...inline].map(toCommands);
  });
}

/** Two words and an option or more: `aws logs tail` alone is a name. */
const inlineCommand = new RegExp(
  `\`((?:${programs.join('|')}) [^\`\\n]*-[^\`\\n]*|aws [a-z0-9-]+ [a-z-]+)\``,
  'g',
);

/** Puts something in the place of `<what is to be filled in>`, and of `…` where it is a value or ends one; else drops it. */
export function fillIn(text: string): string {
  return text
    .replaceAll(/<id>/g, '01JD0000000000000000000000')
    .replaceAll(/<function>/g, 'get-task')
    .replaceAll(/(?<!<)<[A-Za-z][\w ]*>/g, 'example')
    .replaceAll(/(?<=\S|--[a-z-]+ )…/g, 'example')
    .replaceAll('…', '');
}
