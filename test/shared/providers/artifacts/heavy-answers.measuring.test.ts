import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { artifactsPlugin } from '#providers/artifacts/index.ts';
import { type LoopReport, watchMainLoop } from '#test/support/run/main-loop.ts';
import { openClient } from '../docker-registry/test-account.ts';
import {
  serveFlushes,
  serveGit,
  writeBackwardDeltas,
  writeEqualObjects,
  writeHeavyDescriptor,
  writeHeavyIndex,
  writeHeavyMetadata,
  writeHeavyPage,
  writeWideFolder,
} from './heavy-answers.ts';
import { createTestOptions, neverAborted, readBytes } from './options.ts';
import { startOrigin } from './origin.ts';

const account = 'heavy';

/** Opens the artifact account of these settings and asks it. */
async function fetchArtifact(kind: string, settings: JsonObject, artifact: object): Promise<unknown> {
  const urlRestrictions = { allowedIps: ['127.0.0.1'] };
  const accounts = [{ name: account, ...settings }];
  const provider = artifactsPlugin.open(
    createTestOptions({ artifacts: { urlRestrictions, [kind]: { enabled: true, accounts } } }),
  );
  await using opened = provider;
  const { body } =
    (await opened.artifacts?.fetch({ artifactAccount: account, ...artifact }, neverAborted())) ?? {};
  return (await readBytes(body)).length;
}

const fetchGit = (url: string) => fetchArtifact('gitRepo', {}, { type: 'git/repo', reference: `${url}/a` });
const serve = (body: Buffer): RequestListener => {
  return (_, response) => response.end(body);
};

interface Heavy {
  readonly answer: () => RequestListener;
  readonly ask: (url: string) => Promise<unknown>;
  /** Its outcome: a number of bytes, or the message of an error. */
  readonly comesTo: RegExp;
  /** Whether a thread reads it; false for what is refused where it arrives. */
  readonly inThread?: false;
}

const heavy: { readonly [what: string]: Heavy } = {
  'an index of charts': {
    answer: () => serve(writeHeavyIndex()),
    ask: (repository) => fetchArtifact('helm', { repository }, { type: 'helm/chart', name: 'web' }),
    comesTo:
      /^The index of 127\.0\.0\.1:\d+ (has more than \d+ versions of one chart|takes more than 5 s of processor time to read)$/,
  },
  'metadata of Maven': {
    answer: () => serve(writeHeavyMetadata()),
    ask: (repositoryUrl) =>
      fetchArtifact('maven', { repositoryUrl }, { type: 'maven/file', reference: 'a:b:[1.0,2.0)' }),
    comesTo: /^\d+$|takes more than 5 s of processor time to read$/,
  },
  'a descriptor of Ivy': {
    answer: () => serve(writeHeavyDescriptor()),
    ask: (root) => {
      const ivy = [{ pattern: `${root}/[module].xml` }];
      const url = [{ name: 'a', ivy, artifact: [{ pattern: `${root}/[artifact].[ext]` }] }];
      return fetchArtifact(
        'ivy',
        { settings: { resolvers: { url } } },
        { type: 'ivy/file', reference: 'a:b:1' },
      );
    },
    comesTo: /file of the module|takes more than 5 s of processor time to read$/,
  },
  'a pack of equal objects': {
    answer: () => serveGit(writeEqualObjects()),
    ask: fetchGit,
    comesTo: /^\d+$|^The repository takes more than 5 s of processor time to read$/,
  },
  'a pack of changes before what they change': {
    answer: () => serveGit(writeBackwardDeltas()),
    ask: fetchGit,
    comesTo: /left out$|^The repository takes more than 5 s of processor time to read$/,
  },
  'a folder of many files': {
    answer: () => serveGit(writeWideFolder()),
    ask: fetchGit,
    comesTo: /^\d+$|^The repository takes more than 5 s of processor time to read$/,
  },
  'packets that say nothing': {
    answer: serveFlushes,
    ask: fetchGit,
    comesTo: /^The answer is not of git's protocol/,
    inThread: false,
  },
  'a page of tags of images': {
    answer: () => serve(writeHeavyPage('tags')),
    ask: (address) => listImages(address),
    comesTo: /^0$/,
  },
  'a page of tags of charts': {
    answer: () => serve(writeHeavyPage('tags')),
    ask: (address) => fetchArtifact('helm-oci', { address }, { type: 'helm/image', name: 'web' }),
    comesTo: /has no version$/,
  },
};

async function listImages(address: string): Promise<number | undefined> {
  await using opened = openClient({ address });
  return (await opened.client.listTags('shop/cart', neverAborted()))?.length;
}

test.each(Object.entries(heavy))(
  '%s holds up nobody else',
  async (what, { answer, ask, comesTo, inThread = true }) => {
    await using origin = await startOrigin(answer());
    let came: unknown;
    const report = await watchMainLoop(async () => {
      came = await ask(origin.url).catch((error: unknown) =>
        error instanceof Error ? error.message : error,
      );
    });
    process.stderr.write(`${what}: ${describe(report)}; ${came}\n`);
    expect(String(came)).toMatch(comesTo);
    // Before, the main loop did all of it in one stretch, of up to 100 seconds.
    expect(report.longestStretchMs).toBeLessThan(2_500);
    expect(report.neighbourMs).toBeLessThan(2_500);
    expect(report.threadsSeen).toBe(inThread ? 1 : 0);
    expect(report.threadsLeft).toBe(0);
  },
  120_000,
);

function describe({ longestStretchMs, neighbourMs, mainCpuMs }: LoopReport): string {
  return `longest stretch ${longestStretchMs} ms, neighbour's request ${neighbourMs} ms, main thread ${mainCpuMs} ms`;
}
