import path from 'node:path';
import { one, parseOptions, read, runProgram } from '#infra/options.ts';
import packageJson from '#package.json' with { type: 'json' };
import { parseSnapshot, snapshot } from './base.ts';
import { makeImages } from './images.ts';

const root = path.resolve(import.meta.dirname, '../../..');

const program = {
  name: 'npm run images --',
  about: `Makes the images busdriver and busdriver-agent of Debian's libraries, Node and this clone, in one OCI layout. Needs Debian's mmdebstrap, and root.`,
  options: {
    out: one('--out <DIR>=dist/images', 'where the layout goes; what is there is replaced', read.text),
    platforms: one('--platforms <A,B>=amd64,arm64', 'architectures', read.someOf(['amd64', 'arm64'])),
    snapshot: one(`--snapshot <TIME>=${snapshot}`, `moment of Debian's archive, or latest`, parseSnapshot),
  },
  notes: [
    '',
    'To push: skopeo copy --all oci:dist/images:busdriver docker://registry.example.com/busdriver:VERSION',
  ],
};

/** `npm run images`. */
const parse = (args: readonly string[]) => parseOptions(program, args);
await runProgram(program, parse, async ({ out, platforms, snapshot: from }) => {
  const { digests } = await makeImages({
    ...{ root, outputDir: path.resolve(out), architectures: platforms, snapshot: from },
    ...{ version: packageJson.version, nodeVersion: packageJson.devDependencies.node },
  });
  for (const [name, digest] of Object.entries(digests)) console.log(`${name} ${digest}`);
});
