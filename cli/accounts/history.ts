import type { Command } from 'commander';
import { asJsonArray, asJsonObject, isSameJson, type JsonObject } from '#core/json.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { printTable } from '../table.ts';

/** Lists the changes of an account, newest first. */
export async function listHistory(context: CliContext, name: string, command: Command): Promise<void> {
  const { terminal } = context;
  const client = openClient(context, command);
  const answer = await terminal.wait(
    () => `reading the history of ${name}`,
    () => client.get(`/credentials/${encodeURIComponent(name)}/history`),
  );
  if (isJsonWanted(command)) return terminal.printJson(answer);
  const changes = asJsonArray(answer).map((change) => asJsonObject(change) ?? {});
  printTable(terminal, {
    headings: ['VERSION', 'TIME', 'CHANGE'],
    rows: changes.map((change, index) => [
      String(change['version']),
      formatTime(change['timestamp']),
      describeChange(change, changes[index + 1]),
    ]),
  });
}

function formatTime(timestamp: unknown): string {
  const isTime = typeof timestamp === 'number' && Math.abs(timestamp) <= 8.64e15;
  return isTime ? new Date(timestamp).toISOString().replace(/\.\d+Z$/, 'Z') : '';
}

/** The change, and its options. */
function describeChange(change: JsonObject, before: JsonObject | undefined): string {
  const after = asJsonObject(change['account']);
  if (after === undefined) return 'deleted';
  const former = asJsonObject(before?.['account']);
  // The change before may be older than the history goes back.
  if (former === undefined) return before === undefined && change['version'] !== 1 ? 'changed' : 'created';
  const options = [...new Set([...Object.keys(after), ...Object.keys(former)])];
  const changed = options.filter((option) => !isSameJson(after[option], former[option]));
  return changed.length > 0 ? `changed ${changed.sort().join(', ')}` : 'changed a secret, or nothing';
}
