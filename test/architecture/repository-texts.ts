import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './source-files.ts';

const folders = ['cli', 'docs', 'functions', 'infra', 'shared', 'test'];
const files = ['README.md'];

/** Texts of the repository by their paths from its root, with `/`. */
export class RepositoryTexts {
  readonly #texts: ReadonlyMap<string, () => string>;

  private constructor(texts: ReadonlyMap<string, () => string>) {
    this.#texts = texts;
  }

  /** A repository without any file. */
  static readonly empty = new RepositoryTexts(new Map());

  /** Those of the code, the tests and the pages. Each is read when it is asked for. */
  static load(): RepositoryTexts {
    const found = folders
      .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
    return new RepositoryTexts(
      new Map(
        [...files, ...found].map((path) => [path, makeLazy(() => readFileSync(join(root, path), 'utf8'))]),
      ),
    );
  }

  /** The text of a file; empty where there is none. */
  read(path: string): string {
    return this.#texts.get(path)?.() ?? '';
  }

  /** What stands below a heading of a page, up to the next one of its level or above; empty where there is none. */
  readSection(path: string, heading: string): string {
    const [, marks = '', rest = ''] =
      new RegExp(`^(#+) ${heading}\\n([\\s\\S]*)`, 'm').exec(this.read(path)) ?? [];
    return rest.split(new RegExp(`^#{1,${marks.length || 1}} `, 'm'))[0] ?? '';
  }

  /** What stands below a heading of a page, without what stands below lesser ones. */
  readTop(path: string, heading: string): string {
    return this.readSection(path, heading).split(/^#+ /m)[0] ?? '';
  }

  /** Paths that begin so. */
  list(prefix: string): string[] {
    return [...this.#texts.keys()].filter((path) => path.startsWith(prefix));
  }

  /** Whether some file whose path begins so has the name in its text. */
  isNamedIn(prefix: string, name: string | RegExp): boolean {
    return this.list(prefix).some((path) => {
      const text = this.read(path);
      return typeof name === 'string' ? text.includes(name) : name.test(text);
    });
  }
}

function makeLazy(read: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= read();
    return text;
  };
}
