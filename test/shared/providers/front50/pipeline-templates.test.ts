import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { InvalidInputError, NotFoundError, UnavailableError } from '#core/errors.ts';
import type { ArtifactFetcher, Provider } from '#provider-kit/provider.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { artifactsPlugin } from '#providers/artifacts/index.ts';
import { front50Plugin } from '#providers/front50/index.ts';
import { concurrentTemplatesMax, templateBytesMax } from '#providers/front50/pipeline-templates.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { type Front50, startFront50 } from '#test/support/services/front50.ts';
import { createTestOptions } from '../artifacts/options.ts';

/** As Front50 keeps it; a number that JavaScript has no exact form of must stay. */
const template = '{"schema": "v2", "id": "bake", "variables": [{"defaultValue": 9007199254740993}]}';

let front50: Front50;
let providers: ProviderSet;
let fetcher: ArtifactFetcher;

beforeEach(async () => {
  front50 = await startFront50();
  providers = openAll({ services: { front50: { baseUrl: front50.url } } });
  fetcher = getFetcher(providers);
});
disposeAfterEach(() => [providers, front50]);

function openAll(settings: Parameters<typeof createTestOptions>[0]): ProviderSet {
  const open = (plugin: typeof front50Plugin): Provider => plugin.open(createTestOptions(settings));
  return new ProviderSet([open(artifactsPlugin), open(front50Plugin)]);
}

function getFetcher(set: ProviderSet): ArtifactFetcher {
  const found = set.findArtifactFetcher();
  if (found === undefined) throw new Error('nothing fetches artifacts');
  return found;
}

async function fetchTemplate(reference?: string, signal = new AbortController().signal): Promise<string> {
  const artifact = {
    type: 'front50/pipelineTemplate',
    artifactAccount: 'front50ArtifactCredentials',
    ...(reference !== undefined && { reference }),
  };
  return text((await fetcher.fetch(artifact, signal)).body);
}

async function listNames(type: string): Promise<readonly string[] | undefined> {
  const account = { name: 'front50ArtifactCredentials', type };
  return fetcher.listNames?.(account, new AbortController().signal);
}

describe('the account front50ArtifactCredentials', () => {
  it('is listed where Front50 is configured, beside those of artifacts', async () => {
    const names = fetcher.accounts.map(({ name }) => name);
    expect(names).toContain('embedded-artifact');
    expect(fetcher.accounts).toContainEqual({
      name: 'front50ArtifactCredentials',
      type: 'artifacts-front50',
      types: ['front50/pipelineTemplate'],
    });
    await using without = openAll({});
    expect(getFetcher(without).accounts.map(({ name }) => name)).toEqual(
      names.filter((name) => name !== 'front50ArtifactCredentials'),
    );
  });

  it.each([
    ['spinnaker://bake', 'bake', '/v2/pipelineTemplates/bake?tag=&digest='],
    ['spinnaker://bake:stable', 'bake:stable', '/v2/pipelineTemplates/bake?tag=stable&digest='],
    ['spinnaker://bake@sha256:ab12', 'bake@sha256:ab12', '/v2/pipelineTemplates/bake?tag=&digest=ab12'],
    ['spinnaker://ba ke/é', 'ba ke/é', '/v2/pipelineTemplates/ba%20ke%2F%C3%A9?tag=&digest='],
  ])('fetches %s as Front50 has it', async (reference, key, asked) => {
    front50.templates.set(key, template);
    expect(await fetchTemplate(reference)).toBe(template);
    expect(front50.asked).toEqual([asked]);
  });

  it.each([
    undefined,
    '',
    'bake',
    'http://bake',
    'spinnaker://',
    'spinnaker://bake:',
    'spinnaker://:stable',
    'spinnaker://bake:stable:1',
    'spinnaker://bake@sha256:',
    'spinnaker://@sha256:ab12',
    'spinnaker://..',
    'spinnaker://.:stable',
  ])('refuses the reference %s, and asks for nothing', async (reference) => {
    await expect(fetchTemplate(reference)).rejects.toThrow(InvalidInputError);
    expect(front50.asked).toEqual([]);
  });

  it('says which template there is not', async () => {
    const failing = fetchTemplate('spinnaker://bake:stable');
    await expect(failing).rejects.toThrow(NotFoundError);
    await expect(failing).rejects.toThrow('Front50 has no pipeline template bake with the tag stable');
    expect(front50.asked).toHaveLength(1);
  });

  it('asks again, and says that Front50 is away', async () => {
    front50.instead = (_, response) => response.writeHead(503).end();
    await expect(fetchTemplate('spinnaker://bake')).rejects.toThrow(UnavailableError);
    expect(front50.asked).toHaveLength(3);
  });

  it('takes nothing but an object for a template', async () => {
    front50.templates.set('bake', '[]');
    await expect(fetchTemplate('spinnaker://bake')).rejects.toThrow('its answer is no object');
  });

  it('takes no template beyond 4 MiB', async () => {
    front50.templates.set('bake', JSON.stringify({ text: 'x'.repeat(templateBytesMax) }));
    await expect(fetchTemplate('spinnaker://bake')).rejects.toThrow('larger than 4194304 bytes');
  });

  it('fetches 32 at a time, and refuses more at once', async () => {
    const open = Promise.withResolvers<void>();
    front50.instead = (_, response) => void open.promise.then(() => response.end(template));
    const fetches = Array.from({ length: concurrentTemplatesMax }, () => fetchTemplate('spinnaker://bake'));
    await expect(fetchTemplate('spinnaker://bake')).rejects.toThrow(UnavailableError);
    open.resolve();
    expect(new Set(await Promise.all(fetches))).toEqual(new Set([template]));
    expect(await fetchTemplate('spinnaker://bake')).toBe(template);
  });

  it('names the global templates, each once', async () => {
    front50.templates.set('bake', template).set('bake:stable', template).set('deploy', '{"id": "deploy"}');
    front50.templates.set('none', '{}');
    expect(await listNames('front50/pipelineTemplate')).toEqual(['bake', 'deploy']);
    expect(await listNames('')).toEqual(['bake', 'deploy']);
    expect(front50.asked).toEqual(['/v2/pipelineTemplates?scopes=global']);
    await expect(listNames('helm/chart')).rejects.toThrow(NotFoundError);
    const account = { name: 'front50ArtifactCredentials', type: 'front50/pipelineTemplate' };
    const { signal } = new AbortController();
    await expect(fetcher.listVersions?.(account, 'bake', signal)).rejects.toThrow(
      'type front50/pipelineTemplate has no versions',
    );
  });

  it.each([503, 200])(
    'says that Front50 is away where it has no names of templates, but %s',
    async (status) => {
      front50.instead = (_, response) => response.writeHead(status).end('{}');
      await expect(listNames('')).rejects.toThrow(UnavailableError);
    },
  );

  it("fetches the page's example", async () => {
    const page = await readFile(join(import.meta.dirname, '../../../../docs/artifacts.md'), 'utf8');
    const [, example = ''] = /^## Front50\n[^#]*?```json\n([\s\S]*?)```/m.exec(page) ?? [];
    front50.templates.set('bake:stable', template);
    const { body } = await fetcher.fetch(JSON.parse(example), new AbortController().signal);
    expect(await text(body)).toBe(template);
  });

  it('stops when its caller does', async () => {
    const caller = new AbortController();
    front50.instead = () => caller.abort(new Error('the caller went away'));
    await expect(fetchTemplate('spinnaker://bake', caller.signal)).rejects.toThrow('the caller went away');
  });

  it('leaves artifacts of other accounts to those', async () => {
    const reference = Buffer.from('content').toString('base64');
    const artifact = { type: 'embedded/base64', artifactAccount: 'embedded-artifact', reference };
    const { signal } = new AbortController();
    expect(await text((await fetcher.fetch(artifact, signal)).body)).toBe('content');
    await expect(fetcher.fetch({ ...artifact, artifactAccount: 'none' }, signal)).rejects.toThrow(
      "Credentials 'none' supporting artifact type 'embedded/base64' cannot be found",
    );
  });
});
