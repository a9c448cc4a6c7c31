import path from 'node:path';
import { getErrorMessage } from '#core/errors.ts';
import { buildLocal, replicaEntries } from '#infra/tools/build/build.ts';

/** Bundles the Kubernetes home with all functions into `dist/host`, which needs Node and nothing else. */
const root = path.resolve(import.meta.dirname, '../..');
const outputDir = path.join(root, 'dist', 'host');
try {
  await buildLocal({
    root,
    outputDir,
    entries: replicaEntries,
    report: console.error,
  });
} catch (error) {
  console.error(getErrorMessage(error));
  process.exitCode = 1;
}
