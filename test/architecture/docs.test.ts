import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as agentSchedule from '#caching/scheduling/caching-agent-schedule.ts';
import * as dueAgents from '#caching/scheduling/due-caching-agents.ts';
import * as runTurn from '#caching/scheduling/run-turn.ts';
import packageJson from '#package.json' with { type: 'json' };
import * as taskItems from '#tasks/aws/task-items.ts';
import * as journalFormats from '#tasks/journal-format.ts';
import * as sweepTasks from '#tasks/sweep-tasks.ts';
import * as task from '#tasks/task.ts';
import { root } from './source-files.ts';

interface Document {
  /** Path from the root, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text without code blocks. */
  readonly prose: string;
}

const ignoredFolders = ['node_modules', 'dist', 'coverage', '.git', '.busdriver'];

const documents = listFiles(root)
  .filter((path) => path.endsWith('.md'))
  .map(loadDocument);

describe('documents', () => {
  it('link only to files and headings that exist', () => {
    const broken = documents.flatMap((document) =>
      findLinks(document)
        .filter((link) => !isResolved(document, link))
        .map((link) => `${document.path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('name only files of ours that exist', () => {
    const missing = documents.flatMap(({ path, prose }) =>
      findPaths(prose)
        .filter(
          (named) => !existsSync(join(root, named)) && !existsSync(join(root, posix.dirname(path), named)),
        )
        .map((named) => `${path}: ${named}`),
    );
    expect(missing).toEqual([]);
  });

  it('name only scripts that package.json has', () => {
    const scripts = new Set(Object.keys(packageJson.scripts));
    const unknown = documents.flatMap(({ path, text }) =>
      findScripts(text)
        .filter((script) => !scripts.has(script))
        .map((script) => `${path}: npm run ${script}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('CONTRIBUTING.md', () => {
  const { text } = getDocument('CONTRIBUTING.md');

  it('lists every script', () => {
    const unlisted = Object.keys(packageJson.scripts).filter((script) => {
      return !text.includes(`\`npm run ${script}\``) && !text.includes(`\`npm ${script}\``);
    });
    expect(unlisted).toEqual([]);
  });
});

describe('docs/architecture.md', () => {
  it('tells the numbers of the code', () => {
    const constants: { readonly [name: string]: unknown } = {
      ...{ ...task, ...taskItems, ...sweepTasks, ...journalFormats },
      ...{ ...agentSchedule, ...dueAgents, ...runTurn },
    };
    const { text } = getDocument('docs/architecture.md');
    const rows = findRows(text.slice(text.indexOf('## Numbers'))).slice(1);
    expect(rows.length).toBeGreaterThan(5);
    for (const [name = '', , value] of rows) {
      expect(`${name} ${value}`).toBe(`${name} ${constants[name.replaceAll('`', '')]}`);
    }
  });
});

describe('docs/README.md', () => {
  it('lists every page', () => {
    const index = findLinks(getDocument('docs/README.md'));
    const pages = documents.filter(({ path }) => /^docs\/(?!README)[^/]+\.md$/.test(path));
    expect(pages.map(({ path }) => posix.basename(path)).filter((name) => !index.includes(name))).toEqual([]);
  });
});

describe('pages', () => {
  const pages = documents.filter(({ path }) => /^docs\/(?!decisions\/)/.test(path));

  it.each([
    ['README.md', 1_200],
    ['CONTRIBUTING.md', 2_000],
    ['CHANGELOG.md', 1_000],
    ...['accounts', 'agents', 'contract', 'deploy', 'operate'].map((name) => [`docs/${name}.md`, 4_000]),
  ] as [string, number][])('are read to their end: %s has at most %d words', (path, most) => {
    expect(countWords(getDocument(path))).toBeLessThanOrEqual(most);
  });

  it('have at most 50,000 words together, but for decisions', () => {
    expect(pages.reduce((sum, page) => sum + countWords(page), 0)).toBeLessThanOrEqual(50_000);
  });
});

describe('decisions', () => {
  const decisions = documents.filter(({ path }) => /^docs\/decisions\/\d/.test(path));

  it('have at most 300 words each', () => {
    const long = decisions.filter((decision) => countWords(decision) > 300);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('are in the index by their titles', () => {
    const { text: index } = getDocument('docs/decisions/README.md');
    const entries = decisions.map(({ path, text }) => {
      return `[${text.slice('# '.length, text.indexOf('\n'))}](${posix.basename(path)})`;
    });
    expect([...index.matchAll(/^- (\[.*\]\(.*\))$/gm)].map(([, entry]) => entry).toSorted()).toEqual(
      entries.toSorted(),
    );
  });

  it('have each number once, those that no longer hold in the history', () => {
    const { text: history } = getDocument('docs/decisions/history.md');
    const former = [...history.matchAll(/^\| (\d{4}) \|/gm)].map(([, number = '']) => number);
    const numbers = [...decisions.map(({ path }) => posix.basename(path).slice(0, 4)), ...former];
    const expected = numbers.map((_, index) => String(index + 1).padStart(4, '0'));
    expect(numbers.toSorted()).toEqual(expected);
  });
});

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ignoredFolders.includes(entry.name) ? [] : listFiles(path);
    return [relative(root, path).replaceAll('\\', '/')];
  });
}

function loadDocument(path: string): Document {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, prose: text.replaceAll(/^```.*?^```$/gms, '') };
}

/** Words of a page, but for what programs write into it; bars and arrows of tables are none. */
function countWords({ text }: Document): number {
  const written = text
    .replaceAll(/^<!-- (generated: .*|routes) -->$.*?^<!-- \/?(end|routes) -->$/gms, '')
    .replace(/^<!-- runs, .*/ms, '');
  return written.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

function getDocument(path: string): Document {
  const document = documents.find((each) => each.path === path);
  if (document === undefined) throw new Error(`There is no ${path}`);
  return document;
}

/** Targets of links within the repository. */
function findLinks({ prose }: Document): string[] {
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?|mailto):/.test(target));
}

function isResolved({ path }: Document, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : posix.join(posix.dirname(path), decodeURI(file));
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || findAnchors(readFileSync(join(root, target), 'utf8')).includes(anchor);
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

/** Paths of ours between backticks, without those that hold a wildcard or a placeholder. */
function findPaths(prose: string): string[] {
  return [...prose.matchAll(/`([^`\s]+)`/g)]
    .map(([, named = '']) => named)
    .filter((named) => /^(functions|shared|infra|test|docs|\.ci|\.github)\//.test(named))
    .filter((named) => !/[*<>{}…$]|NNNN/.test(named));
}

function findScripts(text: string): string[] {
  const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script);
  return named.concat(/npm test/.test(text) ? ['test'] : [], /npm start/.test(text) ? ['start'] : []);
}

/** The rows of all tables, cell by cell, without their rulers. */
function findRows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[-|]+\|$/.test(line))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}
