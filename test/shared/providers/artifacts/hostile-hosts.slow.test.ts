import { describe, expect, test } from 'vitest';
import { VisibleError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { createSlots } from '#providers/artifacts/download/download-slots.ts';
import { openGitHubSources } from '#providers/artifacts/github.ts';
import { openIvySources } from '#providers/artifacts/maven/ivy.ts';
import { openMavenSources } from '#providers/artifacts/maven/maven.ts';
import { hostileArtifactHosts } from '#test/support/artifacts/hostile-artifact-hosts.ts';
import { startTestDownloader } from './download/test-downloader.ts';
import { createTestOptions, neverAborted } from './options.ts';

/** Short ones: where only a hang is to be caught, a host is given up soon. */
const limits = {
  headersTimeoutMs: 1_000,
  bodyTimeoutMs: 1_000,
  answerTimeoutMs: 2_500,
  totalTimeoutMs: 3_000,
  bytesMax: 32 * 2 ** 20,
};

async function drain(body: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const piece of body) bytes += piece.byteLength;
  return bytes;
}

/** What is an answer like any other to who only passes bytes on. */
const harmless = new Set(['JSON of a million levels']);

describe.each(hostileArtifactHosts)('a host with $name', ({ name, start }) => {
  test('costs a download bounded time and memory, and one connection, which is given back', async () => {
    await using host = await start();
    const sharedSlots = createSlots(1, 'the test');
    await using downloader = startTestDownloader({ limits, sharedSlots });
    const before = process.memoryUsage().rss;

    const outcome = await downloader
      .download({ url: new URL(host.url), credentials: { authorization: 'token planted' } }, neverAborted())
      .then(drain)
      .catch((error: unknown) => error);

    if (harmless.has(name)) expect(outcome).toBeLessThan(limits.bytesMax);
    else expect(outcome).toBeInstanceOf(VisibleError);
    expect(String(outcome)).not.toContain('planted');
    expect(String(outcome).length).toBeLessThan(500);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 2 ** 20);
    await expect.poll(() => tryTake(sharedSlots)).toBe(true);
    if (!harmless.has(name)) await expect.poll(() => host.connections).toBe(0);
  });
});

/** Kinds that read XML of a host before they know where a file is. */
const readersOfXml = [
  {
    type: 'maven/file',
    open: openMavenSources,
    toAccount: (repositoryUrl: string) => ({ maven: toKind({ repositoryUrl }) }),
  },
  {
    type: 'ivy/file',
    open: openIvySources,
    toAccount: (root: string) => ({
      ivy: toKind({ settings: { resolvers: { ibiblio: [{ m2compatible: true, root }] } } }),
    }),
  },
];

function toKind(account: JsonObject): JsonObject {
  return { enabled: true, accounts: [{ name: 'a', ...account }] };
}

/** What comes of a fetch by an account at a host. */
async function fetchFrom(url: string, { type, open, toAccount }: (typeof readersOfXml)[number]) {
  const artifacts = { urlRestrictions: { allowedIps: ['127.0.0.1'] }, ...toAccount(url) };
  // As large as any file may be: XML has a limit of its own.
  const large = { ...limits, bytesMax: 2 ** 30 };
  const { sources } = open({ ...createTestOptions({ artifacts }), limits: large });
  await using source = sources[0];
  const fetching = source?.fetch({ type, reference: 'com.acme:shop:1.0' }, neverAborted());
  return await fetching?.then(({ body }) => drain(body)).catch((error: unknown) => error);
}

test.each(hostileArtifactHosts)(
  'XML of a host with $name costs bounded time and memory',
  async ({ start }) => {
    await using host = await start();
    const before = process.memoryUsage().rss;

    const outcomes = await Promise.all(readersOfXml.map((reader) => fetchFrom(host.url, reader)));

    for (const outcome of outcomes) {
      expect(outcome).toBeInstanceOf(VisibleError);
      expect(String(outcome).length).toBeLessThan(500);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 2 ** 20);
    await expect.poll(() => host.connections).toBe(0);
  },
);

/** Whether the only slot is free. */
function tryTake(slots: ReturnType<typeof createSlots>): boolean {
  try {
    slots.take()();
    return true;
  } catch {
    return false;
  }
}

test('no answer about a file that is nested without end reaches a parser', async () => {
  const deep = hostileArtifactHosts.find(({ name }) => name === 'JSON of a million levels');
  if (deep === undefined) throw new Error('there is no such host');
  await using host = await deep.start();
  const artifacts = {
    urlRestrictions: { allowedIps: ['127.0.0.1'] },
    github: { enabled: true, accounts: [{ name: 'gh' }] },
  };
  const [source] = openGitHubSources(createTestOptions({ artifacts })).sources;

  await expect(
    source?.fetch({ type: 'github/file', reference: `${host.url}/x` }, neverAborted()),
  ).rejects.toThrow('did not tell a download URL');
  await source?.[Symbol.asyncDispose]();
});
