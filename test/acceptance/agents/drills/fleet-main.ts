import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAgentConfig } from '#infra/agent/config/agent-config.ts';
import { runAgent } from '#infra/agent/main.ts';

/**
 * Runs many agents in this process, each with a session of its own, as `node dist/agent/main.js` runs one. The argument is a file with a
 * list of agents' settings. All of them begin at once: the worst that a cluster that comes back can do.
 */
const file = process.argv[2] ?? '';
const documents: readonly unknown[] = JSON.parse(await readFile(file, 'utf8'));
const stopping = new AbortController();
const stop = (): void => stopping.abort(new Error('stopped'));
process.on('SIGTERM', stop).once('disconnect', stop);
const folder = path.dirname(file);
await Promise.all(documents.map((document) => runAgent(parseAgentConfig(document, folder), stopping.signal)));
process.exit(0);
