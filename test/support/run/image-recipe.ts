import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeTempDir } from './temp-dir.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../..');

/** A Dockerfile of the repository, as far as its tests can follow it without Docker. */
export interface ImageRecipe {
  /** The text of the Dockerfile. */
  readonly text: string;
  /** What it copies from the repository, by path; each stays what it is. */
  readonly copies: readonly string[];
  /** The lines of the `.dockerignore` beside it. */
  readonly ignored: readonly string[];
}

/** Reads the recipe of a folder. @param folder from the root of the repository, such as `infra/kubernetes` */
export async function readImageRecipe(folder: string): Promise<ImageRecipe> {
  const read = (name: string) => readFile(path.join(root, folder, name), 'utf8');
  const text = await read('Dockerfile');
  const copies = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  );
  return { text, copies, ignored: (await read('Dockerfile.dockerignore')).split('\n') };
}

/**
 * Does what a recipe says in an empty folder, where nothing else of the repository is, and runs the program that it makes with
 * `--help`.
 *
 * @param bundle what the build makes, such as `dist/host`
 * @returns what the program printed
 */
export async function buildAndAskForHelp(
  { text, copies }: ImageRecipe,
  bundle: string,
): Promise<{ stdout: string; stderr: string }> {
  await using dir = await makeTempDir();
  const inside = path.join(dir.path, 'build');
  await mkdir(inside);
  for (const each of copies) {
    await cp(path.join(root, each), path.join(inside, each), { recursive: true });
  }
  await symlink(path.join(root, 'node_modules'), path.join(inside, 'node_modules'));
  for (const [, command = ''] of text.matchAll(/^RUN node (infra\S+)$/gm))
    await run(process.execPath, [path.join(inside, command)]);
  const alone = path.join(dir.path, 'busdriver');
  await cp(path.join(inside, bundle), alone, { recursive: true });
  for (const [, each = ''] of text.matchAll(/^COPY --from=build \/busdriver\/(\S+) \/busdriver\/$/gm)) {
    await cp(path.join(inside, each), path.join(alone, each));
  }
  return await run(process.execPath, [path.join(alone, 'main.js'), '--help'], { cwd: dir.path });
}
