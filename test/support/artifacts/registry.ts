import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { forEachConcurrently } from '#core/concurrency.ts';
import { buildGoProgram, describeWithGo } from '../cluster/go-program.ts';
import { findFreePort } from '../network/free-port.ts';
import { makeTempDir } from '../run/temp-dir.ts';

/** User of registries that want a password. */
export const registryUser = 'robot';

/** His password. */
export const registryPassword = 'planted-s3cr3t';

/** The password, by bcrypt. */
const passwordHash = '$2b$04$7xxnVSKBcX9ScVBUyzEavuYdR6iPMQfUI7XgduZvm4RSio3KWugmy';

/** How a registry asks who calls. Default: it does not. */
export type RegistryAuth =
  | { readonly scheme: 'basic' }
  | { readonly scheme: 'token'; readonly realm: string; readonly issuer: string; readonly jwks: string };

/** A running Distribution registry. Disposing stops it, and removes what it stores. */
export interface TestRegistry extends AsyncDisposable {
  /** `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The folder of what it stores: another registry may have it, too. */
  readonly storage: string;
}

/** An image to be pushed. */
export interface TestImage {
  readonly labels?: { readonly [name: string]: string };
  /** When it was made, ISO 8601. */
  readonly created?: string;
}

/** `describe` for tests that need a real registry. Where Go cannot build one they are skipped, with the reason as title. */
export const describeWithRegistry = describeWithGo;

/** Starts a registry on a free port of this machine. @param options.storage folder of another one, with what that stores */
export async function startRegistry(
  options: { readonly auth?: RegistryAuth; readonly storage?: string } = {},
): Promise<TestRegistry> {
  const program = await buildGoProgram('registry');
  const dir = await makeTempDir();
  const storage = options.storage ?? dir.path;
  const port = await findFreePort();
  const config = path.join(dir.path, 'config.json');
  const settings = {
    version: '0.1',
    log: { level: 'error', accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: storage },
      delete: { enabled: true },
      maintenance: { uploadpurging: { enabled: false } },
    },
    http: { addr: `127.0.0.1:${port}`, secret: 'test' },
    ...(options.auth && { auth: await writeAuth(options.auth, dir.path) }),
  };
  // JSON is YAML, too.
  await writeFile(config, JSON.stringify(settings));
  const child = spawn(program, ['serve', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill();
    await ended;
    await dir[Symbol.asyncDispose]();
  };
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`the registry ended: ${errors.join('')}`);
    await sleep(20);
  }
  return { url, storage, [Symbol.asyncDispose]: stop };
}

/**
 * Pushes an image by several tags.
 *
 * @param url of a registry that asks for no password
 * @returns its digest
 */
export async function pushImage(
  url: string,
  { repository, tags, image = {} }: { repository: string; tags: readonly string[]; image?: TestImage },
): Promise<string> {
  const config = JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    ...(image.created && { created: image.created }),
    config: { ...(image.labels && { Labels: image.labels }) },
    rootfs: { type: 'layers', diff_ids: [] },
  });
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType,
    config: {
      mediaType: 'application/vnd.oci.image.config.v1+json',
      digest: toDigest(config),
      size: Buffer.byteLength(config),
    },
    layers: [],
  });
  await pushBlob(url, repository, Buffer.from(config));
  const headers = { 'content-type': mediaType };
  await forEachConcurrently(tags, 8, async (tag) => {
    await send(`${url}/v2/${repository}/manifests/${tag}`, { method: 'PUT', body: manifest, headers });
  });
  return toDigest(manifest);
}

/**
 * Pushes a chart as `helm push` does.
 *
 * @param url of a registry that asks for no password
 * @returns its digest
 */
export async function pushChart(
  url: string,
  { repository, tag, archive }: { repository: string; tag: string; archive: Buffer<ArrayBuffer> },
): Promise<string> {
  const config = Buffer.from(JSON.stringify({ name: repository.split('/').at(-1), version: tag }));
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType,
    config: {
      mediaType: 'application/vnd.cncf.helm.config.v1+json',
      digest: toDigest(config),
      size: config.length,
    },
    layers: [
      {
        mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
        digest: toDigest(archive),
        size: archive.length,
      },
    ],
  });
  for (const blob of [config, archive]) await pushBlob(url, repository, blob);
  const headers = { 'content-type': mediaType };
  await send(`${url}/v2/${repository}/manifests/${tag}`, { method: 'PUT', body: manifest, headers });
  return toDigest(manifest);
}

async function pushBlob(url: string, repository: string, blob: Buffer<ArrayBuffer>): Promise<void> {
  const upload = await send(`${url}/v2/${repository}/blobs/uploads/`, { method: 'POST' });
  const place = new URL(upload.headers.get('location') ?? '', url);
  place.searchParams.set('digest', toDigest(blob));
  const headers = { 'content-type': 'application/octet-stream' };
  await send(place.href, { method: 'PUT', body: blob, headers });
}

/** Deletes a tag. */
export async function deleteTag(url: string, repository: string, tag: string): Promise<void> {
  await send(`${url}/v2/${repository}/manifests/${tag}`, { method: 'DELETE' });
}

function toDigest(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

async function send(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${init.method} ${url}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
  return response;
}

async function writeAuth(auth: RegistryAuth, dir: string): Promise<object> {
  if (auth.scheme === 'basic') {
    const file = path.join(dir, 'htpasswd');
    await writeFile(file, `${registryUser}:${passwordHash}\n`);
    return { htpasswd: { realm: 'test', path: file } };
  }
  const jwks = path.join(dir, 'jwks.json');
  await writeFile(jwks, auth.jwks);
  return { token: { realm: auth.realm, service: 'registry.test', issuer: auth.issuer, jwks } };
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/v2/`).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status === 200 || response.status === 401;
    },
    () => false,
  );
}
