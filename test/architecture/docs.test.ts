import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '#package.json' with { type: 'json' };
import { listFiles, readText, root } from './source-files.ts';

const paths = listFiles().filter((path) => path.endsWith('.md'));
const pages = paths.filter((path) => /^docs\/(?!decisions\/)/.test(path));
const decisions = paths.filter((path) => /^docs\/decisions\/\d/.test(path));
const scripts = Object.keys(packageJson.scripts);

describe('documents', () => {
  it('link only to files and headings that exist', () => {
    expect(findWrong((path) => findLinks(path).filter((link) => !isResolved(path, link)))).toEqual([]);
  });

  it('have each heading once', () => {
    const findDoubles = (path: string) => {
      const headings: readonly string[] = readProse(path).match(/^#+ .+$/gm) ?? [];
      return headings.filter((heading, index) => headings.indexOf(heading) < index);
    };
    expect(findWrong(findDoubles)).toEqual([]);
  });

  it('name only files of ours that exist', () => {
    const isThere = (path: string) => existsSync(join(root, path));
    const isEnd = (path: string) => listFiles().some((file) => file.endsWith(`/${path}`));
    const isLost = (from: string, path: string) =>
      !isThere(path) && !isThere(join(posix.dirname(from), path)) && !(path.endsWith('.ts') && isEnd(path));
    expect(findWrong((from) => findPaths(from).filter((path) => isLost(from, path)))).toEqual([]);
  });

  it('name only scripts that package.json has', () => {
    expect(findWrong((path) => findScripts(path).filter((script) => !scripts.includes(script)))).toEqual([]);
  });

  it.each([
    ['README.md', 1_200],
    ['CONTRIBUTING.md', 2_000],
    ['CHANGELOG.md', 1_000],
    ...['accounts', 'agents', 'contract', 'deploy', 'operate'].map((name) => [`docs/${name}.md`, 4_000]),
  ] as [string, number][])('are read to their end: %s has at most %d words', (path, most) => {
    expect(paths).toContain(path);
    expect(countWords(path)).toBeLessThanOrEqual(most);
  });

  it('have at most 50,000 words together, but for decisions', () => {
    expect(pages.reduce((sum, page) => sum + countWords(page), 0)).toBeLessThanOrEqual(50_000);
  });
});

it('CONTRIBUTING.md lists every script', () => {
  const text = readText('CONTRIBUTING.md');
  const isListed = (script: string) => new RegExp(`\`npm (run )?${script}\``).test(text);
  expect(scripts.filter((script) => !isListed(script))).toEqual([]);
});

it('docs/README.md lists every page', () => {
  const names = pages
    .filter((path) => /^docs\/(?!README)[^/]+$/.test(path))
    .map((path) => posix.basename(path));
  expect(findLinks('docs/README.md')).toEqual(expect.arrayContaining(names));
});

describe('decisions', () => {
  it('have at most 300 words each', () => {
    expect(decisions.filter((path) => countWords(path) > 300)).toEqual([]);
  });

  it('are in the index by their titles', () => {
    const index = readText('docs/decisions/README.md').match(/^- \[.*\]\(.*\)$/gm) ?? [];
    const entries = decisions.map((path) => {
      const [heading = ''] = readText(path).split('\n');
      return `- [${heading.slice('# '.length)}](${posix.basename(path)})`;
    });
    expect(index.toSorted()).toEqual(entries.toSorted());
  });

  it('have each number once, those that no longer hold in the history', () => {
    const former = readText('docs/decisions/history.md').match(/(?<=^\| )\d{4}(?= \|)/gm) ?? [];
    const numbers = [...decisions.map((path) => posix.basename(path).slice(0, 4)), ...former];
    expect(numbers.toSorted()).toEqual(numbers.map((_, index) => String(index + 1).padStart(4, '0')));
  });
});

/** What is wrong in all documents, each with its page. */
function findWrong(find: (path: string) => readonly string[]): string[] {
  return paths.flatMap((path) => find(path).map((wrong) => `${path}: ${wrong}`));
}

/** Words of a page, but for what programs write into it; bars and arrows of tables are none. */
function countWords(path: string): number {
  const written = readText(path)
    .replaceAll(/^<!-- generated: .* -->$.*?^<!-- end -->$/gms, '')
    .replace(/^<!-- runs, .*/ms, '');
  return written.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** The text of a page without code blocks. */
function readProse(path: string): string {
  return readText(path).replaceAll(/^```.*?^```$/gms, '');
}

/** Targets of links within the repository. */
function findLinks(path: string): string[] {
  return readProse(path).match(/(?<=\]\()(?!https?:|mailto:)[^)\s]+(?=\))/g) ?? [];
}

function isResolved(path: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : posix.join(posix.dirname(path), decodeURI(file));
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || findAnchors(readText(target)).includes(anchor);
}

/** Anchors of headings, as GitHub makes them. */
function findAnchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Paths of ours between backticks, without those that hold a wildcard or a placeholder; and ends of paths, wherever they are. */
function findPaths(page: string): string[] {
  const paths = [...readProse(page).matchAll(/`([^`\s]+)`/g)]
    .map(([, named = '']) => named)
    .filter((named) => /^(functions|shared|infra|test|docs|\.ci|\.github)\//.test(named))
    .filter((named) => !/[*<>{}…$]|NNNN/.test(named));
  return [...paths, ...(readText(page).match(/(?<![\w/.*>-])[a-z][\w-]*(?:\/[\w.-]+)+\.ts\b/g) ?? [])];
}

function findScripts(page: string): string[] {
  return readText(page).match(/(?<=npm run )[\w:-]+|(?<=npm )(test|start)\b/g) ?? [];
}

it('docs/providers.md has the whole example, in parts', () => {
  const parts = [...readText('docs/providers.md').matchAll(/^```ts\n(.*?)^```$/gms)].map(
    ([, part = '']) => part,
  );
  const withoutBlanks = (text: string) => text.replaceAll(/\n{2,}/g, '\n').trim();
  expect(withoutBlanks(parts.join('\n'))).toBe(
    withoutBlanks(readText('test/support/providers/example/index.ts')),
  );
});
