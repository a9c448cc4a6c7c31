import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The first npm whose `npm sbom` writes CycloneDX of a lock file alone. */
const npmMajorMin = 10;

/** Bytes that npm may write: a component has about 500. */
const outputMax = 64 * 1024 * 1024;

/** What of CycloneDX (https://cyclonedx.org/docs/1.5/json/) we look at and write. */
export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: string;
  /** `urn:uuid:…`, the same for the same contents. */
  readonly serialNumber: string;
  readonly metadata: { readonly component: SbomComponent; readonly [name: string]: unknown };
  readonly components: readonly SbomComponent[];
  readonly [name: string]: unknown;
}

/** A package. What functions are made of is `required`; what only builds and tests them is `optional`. */
export interface SbomComponent {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  /** Where it is from, without a registry: `pkg:npm/zod@4.6.7`. */
  readonly purl: string;
  readonly scope?: 'required' | 'optional';
  readonly externalReferences?: readonly { readonly type: string; readonly url: string }[];
  readonly [name: string]: unknown;
}

/** What we read of `package-lock.json`: packages by their folders. */
interface Lock {
  readonly packages: {
    readonly [folder: string]: { readonly version: string; readonly dev?: true; readonly integrity?: string };
  };
}

/**
 * The bill of materials of what `package-lock.json` pins, as npm tells it, without what differs from one run or machine to the next: the
 * time, a random serial number, the name of the folder, addresses of registries.
 *
 * @param root Busdriver's own folder.
 * @throws Error when npm is too old, or tells something else.
 */
export async function readSbom(root: string): Promise<Sbom> {
  checkNpmVersion((await runNpm(root, ['--version'])).trim());
  const text = await runNpm(root, ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']);
  const { name } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { name: string };
  const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as Lock;
  return normalizeSbom(JSON.parse(text), name, lock);
}

/** @throws Error that says which npm is needed */
export function checkNpmVersion(version: string): void {
  const major = Number(/^\d+/.exec(version)?.[0] ?? Number.NaN);
  if (major >= npmMajorMin) return;
  throw new Error(
    `npm ${version} cannot write a bill of materials: npm ${npmMajorMin} or newer can (npx npm@11 run sbom)`,
  );
}

/** What npm wrote, as far as it is the same each time. @throws Error for what is no bill in CycloneDX */
export function normalizeSbom(
  written: Partial<Sbom> | undefined,
  name: string,
  lock: Lock = { packages: {} },
): Sbom {
  const { bomFormat, components, metadata } = written ?? {};
  if (bomFormat !== 'CycloneDX' || !Array.isArray(components) || metadata === undefined) {
    throw new Error('npm sbom wrote something else than CycloneDX');
  }
  const { timestamp: _, ...kept } = metadata;
  const component = { ...withoutRegistry(metadata.component), type: 'application', name };
  const sorted = components
    .map((each) => withoutRegistry(toRequired(each, lock)))
    .toSorted((one, other) => (one.purl < other.purl ? -1 : one.purl > other.purl ? 1 : 0));
  const content = { ...written, metadata: { ...kept, component }, components: sorted } as Sbom;
  return { ...content, serialNumber: toSerialNumber(content) };
}

/**
 * npm lists a package once that is installed twice, and may list the copy that is bundled with a package for development, without a hash:
 * it is required if another copy is.
 */
function toRequired(component: SbomComponent, { packages }: Lock): SbomComponent {
  const { name, version, scope } = component;
  const copy = Object.entries(packages).find(
    ([folder, each]) =>
      folder.endsWith(`node_modules/${name}`) && each.version === version && each.dev !== true,
  );
  if (scope !== 'optional' || copy === undefined) return component;
  const content = Buffer.from(copy[1].integrity?.replace('sha512-', '') ?? '', 'base64').toString('hex');
  return { ...component, scope: 'required', properties: [], hashes: [{ alg: 'SHA-512', content }] };
}

function withoutRegistry(component: SbomComponent): SbomComponent {
  const { externalReferences = [] } = component;
  return {
    ...component,
    externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
  };
}

/** A UUID (version 8 of RFC 9562: of our own making) of the contents. */
function toSerialNumber({ serialNumber: _, ...content }: Sbom): string {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return `urn:uuid:${[...parts, hash.slice(20, 32)].join('-')}`;
}

async function runNpm(cwd: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run('npm', [...args], { cwd, maxBuffer: outputMax });
  return stdout;
}
