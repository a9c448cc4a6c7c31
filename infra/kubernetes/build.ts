import path from 'node:path';
import { buildLocal, replicaEntries } from '#infra/tools/build/build.ts';
import { runTool } from '#infra/tools/build/run-tool.ts';

/** Bundles the Kubernetes home with all functions into `dist/host`, which needs Node and nothing else. */
const root = path.resolve(import.meta.dirname, '../..');
const outputDir = path.join(root, 'dist', 'host');
await runTool(() => buildLocal({ root, outputDir, entries: replicaEntries, report: console.error }));
