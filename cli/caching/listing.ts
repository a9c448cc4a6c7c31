import type { Command } from 'commander';
import { asJsonArray, asString, getPath, type JsonValue } from '#core/json.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { type Cell, printTable } from '../table.ts';
import { formatDuration } from '../time.ts';

/** Which caching agents to list. */
export interface CachingOptions {
  readonly account?: string;
  readonly failing?: boolean;
}

/** Lists caching agents, as `GET /cache/introspection` has them. */
export async function listCachingAgents(
  context: CliContext,
  { account, failing = false }: CachingOptions,
  command: Command,
): Promise<void> {
  const { terminal } = context;
  const client = openClient(context, command);
  const answer = await terminal.wait(
    () => `reading caching agents from ${client.url}`,
    () => client.get('/cache/introspection'),
  );
  const agents = asJsonArray(answer).filter(
    (agent) =>
      (account === undefined || getPath(agent, 'account') === account) &&
      (!failing || getPath(agent, 'isStale') === true),
  );
  if (isJsonWanted(command)) return terminal.printJson(agents);
  printTable(terminal, {
    headings: ['ACCOUNT', 'AGENT', 'STATE', 'MODE', 'AGE', 'ITEMS', 'FAILURES', 'ERROR'],
    rows: agents.map(toRow),
  });
}

function toRow(agent: JsonValue): Cell[] {
  const text = (...names: readonly string[]) => String(getPath(agent, ...names) ?? '');
  const ageMs = getPath(agent, 'ageMs');
  const isStale = getPath(agent, 'isStale') === true;
  const failures = Number(getPath(agent, 'failures') ?? 0);
  return [
    ...[text('account'), text('name')],
    { text: text('state'), style: isStale ? 'red' : 'green' },
    text('mode'),
    typeof ageMs === 'number' ? formatDuration(ageMs) : '',
    text('lastRun', 'items'),
    String(failures),
    failures > 0 ? (asString(getPath(agent, 'lastError')) ?? '') : '',
  ];
}
