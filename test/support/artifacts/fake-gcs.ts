import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { buildGoProgram } from '../cluster/go-program.ts';

/** A running emulator of Google Cloud Storage. Disposing stops it: what it has is gone. */
export interface FakeGcs extends AsyncDisposable {
  /** `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Makes a bucket that keeps earlier generations of its objects. */
  createBucket(name: string): Promise<void>;
  /** Puts an object, or another generation of it. @returns its generation */
  putObject(bucket: string, name: string, content: string | Uint8Array<ArrayBuffer>): Promise<string>;
}

/** Starts fake-gcs-server on a free port of this machine. @throws GoUnavailableError when Go is missing or too old */
export async function startFakeGcs(): Promise<FakeGcs> {
  const child = spawn(await buildGoProgram('gcs'), [], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => {
      throw new Error('fake-gcs-server ended');
    }),
  ]);
  const url = String(line);
  return {
    url,
    async createBucket(name) {
      const body = JSON.stringify({ name, versioning: { enabled: true } });
      await post(`${url}/storage/v1/b`, { body, mediaType: 'application/json' });
    },
    async putObject(bucket, name, content) {
      const query = new URLSearchParams({ uploadType: 'media', name });
      const place = `${url}/upload/storage/v1/b/${bucket}/o?${query}`;
      const answer = await post(place, { body: content, mediaType: 'application/octet-stream' });
      return String(Object(answer).generation);
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}

interface Post {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
}

async function post(url: string, { body, mediaType }: Post): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': mediaType }, body });
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
