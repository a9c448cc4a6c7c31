import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { pack, readFolder } from '../images/archive.ts';
import type { Architecture } from '../images/base.ts';
import { makeImages } from '../images/images.ts';
import { readSbom } from '../sbom/sbom.ts';
import { buildCluster, toPackageName } from '../test-cluster/cluster-build.ts';
import { packCluster, packPackage, packRecipes, packTemplates, readNotes, toJson } from './assets.ts';

const run = promisify(execFile);

/** What to release. */
export interface ReleaseOptions {
  /** Busdriver's own folder, absolute. */
  readonly root: string;
  /** Where the assets go, absolute. What is there is replaced. */
  readonly outputDir: string;
  /** Architectures of the images; none leaves images out. */
  readonly architectures: readonly Architecture[];
  /** A moment of Debian's archive, or `latest`. */
  readonly snapshot: string;
  /** Where the images will be, such as `ghcr.io/example`: recipes and the command line then name them. */
  readonly registry: string | undefined;
  /** Whether the test control plane of this machine is compiled and packed. */
  readonly withCluster: boolean;
  /** Called before each step, with what it makes. */
  readonly report: (step: string) => void;
}

/**
 * Makes every asset of a release in a folder: images, the package, templates with their zips, recipes, a bill of materials, notes, where
 * all came from, and the sums of all. package.json alone says the version.
 *
 * @throws Error when something cannot be made, or CHANGELOG.md begins with another version
 */
export async function makeRelease(options: ReleaseOptions): Promise<void> {
  const { root, outputDir, registry, architectures, report } = options;
  const { version, devDependencies } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const notes = readNotes(await readFile(path.join(root, 'CHANGELOG.md'), 'utf8'), version);
  await rm(outputDir, { recursive: true, force: true });
  await mkdir(outputDir, { recursive: true });
  const work = await mkdtemp(path.join(tmpdir(), 'busdriver-release-'));
  const write = async (ending: string, make: () => Promise<string | Uint8Array>) => {
    report(`busdriver-${version}${ending}`);
    await writeFile(path.join(outputDir, `busdriver-${version}${ending}`), await make());
  };
  try {
    const layout = path.join(work, 'images');
    const makes = { ...options, outputDir: layout, version, nodeVersion: devDependencies.node };
    const images = architectures.length > 0 ? await makeImages(makes) : undefined;
    if (images) await write('.images.tar', async () => pack(await readFolder(layout)));
    const release = { root, version, images, registry };
    await write('.tgz', () => packPackage(release, path.join(work, 'package')));
    if (options.withCluster)
      await write(`.cluster-${process.platform}-${process.arch}.tgz`, () =>
        makeCluster(version, work, report),
      );
    await write('.aws.tgz', () => packTemplates(root, path.join(work, 'aws')));
    await write('.kubernetes.tgz', () => packRecipes(release));
    await write('.cdx.json', async () => {
      const sbom = await readSbom(root);
      return toJson({ ...sbom, components: [...sbom.components, ...(images?.components ?? [])] });
    });
    await write('.md', async () => notes);
    await write('.provenance.json', () => describeOrigin(options));
    await writeFile(path.join(outputDir, 'SHA256SUMS'), formatSums(await readSums(outputDir)));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function makeCluster(
  version: string,
  work: string,
  report: (line: string) => void,
): Promise<Uint8Array> {
  const built = await buildCluster({ report });
  const binaries = path.join(work, 'cluster');
  await mkdir(binaries);
  for (const [name, file] of Object.entries(built)) await copyFile(file, path.join(binaries, name));
  return packCluster({ version }, { name: toPackageName(), cpu: process.arch, binaries });
}

/** The sum of each file. */
async function readSums(folder: string): Promise<readonly (readonly [name: string, sha256: string])[]> {
  const names = (await readdir(folder)).sort();
  return Promise.all(
    names.map(async (name) => {
      const content = await readFile(path.join(folder, name));
      return [name, createHash('sha256').update(content).digest('hex')] as const;
    }),
  );
}

/** As `sha256sum --check` reads it. */
function formatSums(sums: Awaited<ReturnType<typeof readSums>>): string {
  return sums.map(([name, sum]) => `${sum}  ${name}\n`).join('');
}

/**
 * What was made of which commit, with which settings: an in-toto statement (v1) with SLSA's provenance (v1). It proves nothing until
 * somebody signs it, as the release job does.
 */
async function describeOrigin({ root, outputDir, ...settings }: ReleaseOptions): Promise<string> {
  const { architectures, snapshot, registry } = settings;
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim();
  const isClean = (await git('status', '--porcelain')) === '';
  const commit = await git('rev-parse', 'HEAD');
  const subject = (await readSums(outputDir)).map(([name, sha256]) => ({ name, digest: { sha256 } }));
  const source = { uri: 'git+file:.', digest: { gitCommit: commit }, annotations: { isClean } };
  return toJson({
    _type: 'https://in-toto.io/Statement/v1',
    subject: subject.filter(({ name }) => !name.endsWith('.provenance.json')),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'npm run release',
        externalParameters: { architectures, snapshot, registry },
        resolvedDependencies: [source],
      },
      runDetails: { builder: { id: 'infra/tools/release/release-main.ts' } },
    },
  });
}
