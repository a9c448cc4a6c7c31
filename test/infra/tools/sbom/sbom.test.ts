import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkNpmVersion, normalizeSbom, readSbom, type Sbom } from '#infra/tools/sbom/sbom.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly integrity?: string;
}

describe('the bill of materials', () => {
  let sbom: Sbom;
  let locked: readonly (readonly [name: string, LockedPackage])[];

  beforeAll(async () => {
    sbom = await readSbom(root);
    const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'));
    locked = Object.entries(lock.packages as { [key: string]: LockedPackage })
      .filter(([key]) => key !== '')
      .map(([key, found]) => [key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length), found]);
  });

  it('is CycloneDX, about Busdriver', () => {
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: expect.stringMatching(/^1\.\d$/),
      serialNumber: expect.stringMatching(
        /^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/,
      ),
      metadata: { component: { type: 'application', name: 'busdriver' } },
    });
  });

  it('has each package that functions are made of, with version, hash and purl', () => {
    const production = locked.filter(([, { dev }]) => dev !== true);
    const required = new Map(
      sbom.components.filter(({ scope }) => scope === 'required').map((each) => [each.purl, each]),
    );
    expect(production.length).toBeGreaterThan(20);
    for (const [name, { version, integrity = '' }] of production) {
      const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
      expect(required.get(toPurl(name, version))).toMatchObject({
        name,
        version,
        hashes: [{ alg: 'SHA-512', content }],
      });
    }
    expect(required.size).toBe(new Set(production.map(([name, { version }]) => toPurl(name, version))).size);
  });

  it('marks what only builds and tests', () => {
    const dev = locked.filter(([, each]) => each.dev).map(([name, { version }]) => toPurl(name, version));
    const optional = sbom.components.filter(({ scope }) => scope === 'optional').map(({ purl }) => purl);
    expect(optional).toContain(dev.find((purl) => purl.startsWith('pkg:npm/vitest@')));
    expect(optional.filter((purl) => !dev.includes(purl))).toEqual([]);
  });

  it('names no registry, and is the same each time', async () => {
    const text = JSON.stringify(sbom);

    expect(text.match(/https?:\/\/[^/"]+/g)).toEqual(['http://cyclonedx.org']);
    expect(JSON.stringify(await readSbom(root))).toBe(text);
  });
});

describe('what npm tells', () => {
  it.each(['9.9.4', '8.19.2', 'nonsense'])('npm %s is too old, which is said', (version) => {
    expect(() => checkNpmVersion(version)).toThrow(`npm ${version} cannot write a bill of materials: npm 10`);
  });

  it.each(['10.0.0', '11.19.1', '12.0.0-pre'])('npm %s will do', (version) => {
    expect(() => checkNpmVersion(version)).not.toThrow();
  });

  it('loses the address of a registry', () => {
    const reference = { type: 'distribution', url: 'https://registry.example.com/a.tgz' };
    const component = { type: 'library', name: 'a', version: '1.0.0', purl: 'pkg:npm/a@1.0.0' };
    const written = {
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      metadata: { timestamp: 'now', component },
      components: [{ ...component, externalReferences: [reference] }],
    } as const;

    expect(JSON.stringify(normalizeSbom(written, 'us'))).not.toMatch(/registry|timestamp/);
  });

  it('is refused when it is no bill', () => {
    expect(() => normalizeSbom({}, 'us')).toThrow('something else than CycloneDX');
  });
});

function toPurl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}
