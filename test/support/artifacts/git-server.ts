import { execFile, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Origin, startOrigin } from '#test/shared/providers/artifacts/origin.ts';
import { makeTempDir } from '../run/temp-dir.ts';

const run = promisify(execFile);

/** Nothing of this machine's own configuration of git counts, and commits of tests have the same ids everywhere. */
const environment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
  GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
};

/** A repository of git in a folder, with files. */
export interface TestRepository {
  readonly path: string;
  /** Runs git in it. @returns what it says, without the line break at its end. */
  git(...args: readonly string[]): Promise<string>;
  /** As `git`, with the bytes of what it says. */
  gitBytes(...args: readonly string[]): Promise<Buffer>;
  /** Writes files, and commits all that there are. @returns the id of the commit. */
  commit(files: { readonly [path: string]: string | Uint8Array }): Promise<string>;
}

/** A server of repositories: the `git http-backend` of this machine, behind HTTP. */
export interface GitServer extends Origin {
  /** Folder of the repositories. */
  readonly root: string;
  /** Makes an empty repository, at the path `/NAME/.git` of the server. */
  createRepository(name: string): Promise<TestRepository>;
}

/** Runs before a request is passed on, and may answer it. @returns whether it did. */
type Door = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Starts a server of repositories.
 *
 * @param door what is done before git is asked; nothing by default.
 */
export async function startGitServer(door: Door = () => false): Promise<GitServer> {
  const folder = await makeTempDir();
  const origin = await startOrigin(createBackend(folder.path, door));
  return {
    ...{ root: folder.path, url: origin.url, port: origin.port, requests: origin.requests },
    get connections() {
      return origin.connections;
    },
    createRepository: (name) => createRepository(join(folder.path, name)),
    async [Symbol.asyncDispose]() {
      await origin[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Makes an empty repository in a folder. */
export async function createRepository(path: string): Promise<TestRepository> {
  await mkdir(path, { recursive: true });
  const options = { cwd: path, env: environment, maxBuffer: 2 ** 30 };
  const gitBytes = async (...args: readonly string[]) =>
    (await run('git', args, { ...options, encoding: 'buffer' })).stdout;
  const git = async (...args: readonly string[]) => (await gitBytes(...args)).toString().replace(/\n$/, '');
  await git('init', '--quiet', '--initial-branch=master');
  return {
    ...{ path, git, gitBytes },
    async commit(files) {
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), content);
      }
      await git('add', '--all');
      await git('commit', '--quiet', '--allow-empty', '--message', 'change');
      return git('rev-parse', 'HEAD');
    },
  };
}

/** Calls git's own program for HTTP as a web server does, by CGI. */
function createBackend(root: string, door: Door): RequestListener {
  return (request, response) => {
    if (door(request, response)) return;
    const { pathname, search } = new URL(request.url ?? '', 'http://git');
    const backend = spawn('git', ['http-backend'], {
      env: {
        ...environment,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        CONTENT_LENGTH: request.headers['content-length'] ?? '',
        REMOTE_ADDR: '127.0.0.1',
      },
    });
    // Who goes before he has been answered takes the program's pipes with him.
    for (const stream of [backend.stdin, backend.stdout]) stream.on('error', () => {});
    request.pipe(backend.stdin);
    response.on('close', () => backend.kill());
    void answer(backend.stdout, response);
  };
}

/** Passes on what the program says: headers, an empty line, and the body. */
async function answer(output: AsyncIterable<Buffer>, response: ServerResponse): Promise<void> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of output) {
    if (head === undefined) {
      if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
      continue;
    }
    head = Buffer.concat([head, piece]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) continue;
    writeHead(head.toString('latin1', 0, end), response);
    response.write(head.subarray(end + 4));
    head = undefined;
  }
  response.end();
}

function writeHead(text: string, response: ServerResponse): void {
  for (const line of text.split('\r\n')) {
    const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
}
