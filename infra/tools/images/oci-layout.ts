import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { compress } from './archive.ts';

const prefix = 'application/vnd.oci.image';

/** What of an OCI image names contents. */
export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:…`. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  readonly platform?: { readonly os: 'linux'; readonly architecture: string };
  readonly annotations?: { readonly [name: string]: string };
}

/** A layer: its compressed blob, and the digest of what is in it. */
export interface Layer {
  readonly blob: Descriptor;
  readonly diffId: string;
}

/** How an image runs, by the names of the OCI. */
export interface RunConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly ExposedPorts?: { readonly [port: string]: object };
  readonly Labels: { readonly [name: string]: string };
}

/** An image of one architecture. */
export interface PlatformImage {
  /** By Go's names: `amd64`, `arm64`. */
  readonly architecture: string;
  readonly layers: readonly Layer[];
  readonly config: RunConfig;
}

/**
 * A folder of images in the layout of the OCI (image-spec 1.1, image-layout.md), as `skopeo copy oci:…`, `podman load` and containerd
 * read it. Contents are stored once, whoever names them.
 */
export class OciLayout {
  readonly folder: string;
  readonly #images: Descriptor[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Stores an uncompressed tar as a layer. */
  async addLayer(tar: Uint8Array): Promise<Layer> {
    const blob = await this.#store(`${prefix}.layer.v1.tar+gzip`, await compress(tar));
    return { blob, diffId: toDigest(tar) };
  }

  /** Stores an image of several architectures. @returns its digest, by which it can be pinned */
  async addImage(name: string, platforms: readonly PlatformImage[]): Promise<string> {
    const manifests: Descriptor[] = [];
    for (const { architecture, layers, config } of platforms) {
      const platform = { os: 'linux', architecture } as const;
      const rootfs = { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) };
      const described = await this.#storeJson(`${prefix}.config.v1+json`, { ...platform, config, rootfs });
      const blobs = { config: described, layers: layers.map(({ blob }) => blob) };
      manifests.push({ ...(await this.#storeJson(`${prefix}.manifest.v1+json`, blobs)), platform });
    }
    const index = await this.#storeJson(`${prefix}.index.v1+json`, { manifests });
    this.#images.push({ ...index, annotations: { 'org.opencontainers.image.ref.name': name } });
    return index.digest;
  }

  /** Writes the table of its images: the layout is whole then. */
  async finish(): Promise<void> {
    const index = { schemaVersion: 2, mediaType: `${prefix}.index.v1+json`, manifests: this.#images };
    await writeFile(path.join(this.folder, 'index.json'), JSON.stringify(index));
    await writeFile(path.join(this.folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  }

  #storeJson(mediaType: string, value: object): Promise<Descriptor> {
    // A configuration is no manifest, and has neither of them.
    const head = mediaType.includes('config') ? {} : { schemaVersion: 2, mediaType };
    return this.#store(mediaType, Buffer.from(JSON.stringify({ ...head, ...value })));
  }

  async #store(mediaType: string, content: Uint8Array): Promise<Descriptor> {
    const digest = toDigest(content);
    const folder = path.join(this.folder, 'blobs', 'sha256');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, digest.slice('sha256:'.length)), content);
    return { mediaType, digest, size: content.length };
  }
}

function toDigest(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
