import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { one, optional, parseOptions, read, runProgram, toggle, UsageError } from '#infra/options.ts';
import packageJson from '#package.json' with { type: 'json' };
import { parseSnapshot, snapshot } from '../images/base.ts';
import { makeRelease } from './release.ts';

const root = path.resolve(import.meta.dirname, '../../..');

const program = {
  name: 'npm run release --',
  about: 'Makes every asset of the release that package.json names. Publishes nothing.',
  options: {
    dryRun: toggle('--dry-run', 'rehearse it: the commit needs no tag, and may have changes'),
    out: one('--out <DIR>=dist/release', 'where the assets go; what is there is replaced', read.text),
    platforms: one(
      '--platforms <A,B>=amd64,arm64',
      'architectures of the images',
      read.someOf(['amd64', 'arm64']),
    ),
    snapshot: one(`--snapshot <TIME>=${snapshot}`, `moment of Debian's archive, or latest`, parseSnapshot),
    registry: optional(
      '--registry <NAME>',
      'where the images will be, such as ghcr.io/example',
      readRegistry,
    ),
    images: toggle('--no-images', 'leave the images out, for which mmdebstrap is needed'),
    cluster: toggle('--no-cluster', 'leave the test control plane out, for which Go is needed'),
  },
};

/** `npm run release`. */
const parse = (args: readonly string[]) => parseOptions(program, args);
await runProgram(program, parse, async ({ dryRun, out, platforms, registry, images, cluster, ...values }) => {
  if (!dryRun) await checkTag();
  const startedAt = performance.now();
  await makeRelease({
    ...{ root, outputDir: path.resolve(out), snapshot: values.snapshot, registry, withCluster: cluster },
    architectures: images ? platforms : [],
    report: (step) =>
      console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${step}`),
  });
});

/** A host, and folders below it. */
function readRegistry(text: string, flag: string): string {
  if (/^[a-z\d][a-z\d.-]*(:\d+)?(\/[a-z\d][a-z\d._-]*)*$/.test(text)) return text;
  throw new UsageError(`${flag}: expected a registry such as ghcr.io/example, in lower case, not '${text}'`);
}

/** @throws Error unless the commit is that of the version's tag, without changes */
async function checkTag(): Promise<void> {
  const git = async (...words: string[]) =>
    (await promisify(execFile)('git', words, { cwd: root })).stdout.trim();
  const tag = `v${packageJson.version}`;
  const [tags, changes] = [await git('tag', '--points-at', 'HEAD'), await git('status', '--porcelain')];
  if (!tags.split('\n').includes(tag))
    throw new Error(`A release is made of the commit that has the tag ${tag}; --dry-run makes one of any`);
  if (changes !== '')
    throw new Error(`A release is made of a commit alone, and these files were changed:\n${changes}`);
}
