import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { agentNodeOptions, memorySettings, nodeOptions } from '#infra/local/memory-settings.ts';
import { buildLocal, replicaEntries } from '../build/build.ts';
import type { SbomComponent } from '../sbom/sbom.ts';
import { type Entry, pack, readFolder } from './archive.ts';
import { type Architecture, readDebian, readNode } from './base.ts';
import { type Layer, OciLayout, type PlatformImage, type RunConfig } from './oci-layout.ts';

/** What to make images of. */
export interface MakeImagesOptions {
  /** Busdriver's own folder, absolute. */
  readonly root: string;
  /** Where the layout goes, absolute. What is there is replaced. */
  readonly outputDir: string;
  readonly architectures: readonly Architecture[];
  /** A moment of Debian's archive, or `latest`. */
  readonly snapshot: string;
  /** Busdriver's version, and Node's. */
  readonly version: string;
  readonly nodeVersion: string;
}

/** What was made. */
export interface Images {
  /** Their digests, by their names. */
  readonly digests: { readonly [name in keyof typeof programs]: string };
  /** What is in them beside the packages of npm: Debian's and Node, for each architecture. */
  readonly components: readonly SbomComponent[];
}

/** What the images hold and run. */
const programs = {
  // Replicas, and `npm start` in local/, which one replica without AWS runs.
  busdriver: {
    parts: { '': { entries: replicaEntries }, 'local/': {} },
    nodeOptions,
    ports: { '7002/tcp': {}, '9091/tcp': {} },
  },
  'busdriver-agent': {
    // An agent reaches its own cluster alone.
    parts: { '': { entries: ['infra/agent/main.ts'], absent: ['@aws-sdk/client-eks'], shortensNames: true } },
    nodeOptions: agentNodeOptions,
    ports: undefined,
  },
} as const;

/**
 * Makes the images of the server and of the agent: Debian's libraries, Node and bundles, nothing else. They run as user 1000 on a root that
 * may be read-only.
 *
 * @throws Error when the sources do not compile, or a base cannot be had
 */
export async function makeImages(options: MakeImagesOptions): Promise<Images> {
  const { root, outputDir, architectures, snapshot, version, nodeVersion } = options;
  await rm(outputDir, { recursive: true, force: true });
  const layout = new OciLayout(outputDir);
  const bases: { readonly architecture: Architecture; readonly layers: readonly Layer[] }[] = [];
  const components: SbomComponent[] = [];
  for (const architecture of architectures) {
    const layers: Layer[] = [];
    for (const part of [
      await readDebian(architecture, snapshot),
      await readNode(architecture, nodeVersion),
    ]) {
      layers.push(await layout.addLayer(await pack(part.entries)));
      components.push(...part.components);
    }
    bases.push({ architecture, layers });
  }
  const digests: { [name: string]: string } = {};
  for (const name of ['busdriver', 'busdriver-agent'] as const) {
    const layer = await layout.addLayer(await pack(await bundle(root, name)));
    const config = toConfig(name, version);
    const images = bases.map(
      ({ architecture, layers }): PlatformImage => ({ architecture, layers: [...layers, layer], config }),
    );
    digests[name] = await layout.addImage(name, images);
  }
  await layout.finish();
  return { digests: digests as Images['digests'], components };
}

/** The files of a program below `/busdriver`. */
async function bundle(root: string, name: keyof typeof programs): Promise<readonly Entry[]> {
  const files: Entry[] = [
    // Bundles are ECMAScript modules.
    { name: 'busdriver/package.json', body: '{"type":"module"}\n' },
    { name: 'etc/passwd', body: 'root:x:0:0::/root:/none\nbusdriver:x:1000:1000::/tmp:/none\n' },
    { name: 'etc/group', body: 'root:x:0:\nbusdriver:x:1000:\n' },
  ];
  for (const [folder, wanted] of Object.entries(programs[name].parts)) {
    // An empty folder: what earlier builds left is not part of it.
    const outputDir = await mkdtemp(path.join(tmpdir(), 'busdriver-bundle-'));
    try {
      await buildLocal({ root, outputDir, ...wanted });
      const built = await readFolder(outputDir, `busdriver/${folder}`);
      files.push(...built.filter((entry) => entry.name.endsWith('.js')));
    } finally {
      await rm(outputDir, { recursive: true, force: true });
    }
  }
  return files;
}

function toConfig(name: keyof typeof programs, version: string): RunConfig {
  const { nodeOptions: options, ports } = programs[name];
  const settings = Object.entries({ NODE_ENV: 'production', ...memorySettings });
  return {
    User: '1000:1000',
    Env: ['PATH=/usr/bin', ...settings.map(([key, value]) => `${key}=${value}`)],
    Entrypoint: ['node', ...options, '/busdriver/main.js'],
    ...(ports && { ExposedPorts: ports }),
    Labels: {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  };
}
