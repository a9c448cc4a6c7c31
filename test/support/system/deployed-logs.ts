import { callJson } from '#test/deploy/aws-calls.ts';

interface LogEvent {
  readonly timestamp: number;
  readonly message: string;
}

/**
 * Reads logs from CloudWatch.
 *
 * @param prefix how the names of the groups begin
 * @param sinceMs time of the first line, in milliseconds since 1970
 * @returns lines in the order of their time
 */
export async function readLogs(
  endpoint: string,
  prefix: string,
  sinceMs: number,
): Promise<readonly string[]> {
  const events: LogEvent[] = [];
  for (const group of await listGroups(endpoint, prefix))
    events.push(...(await readGroup(endpoint, group, sinceMs)));
  return events.sort((one, other) => one.timestamp - other.timestamp).map(({ message }) => message);
}

async function listGroups(endpoint: string, logGroupNamePrefix: string): Promise<string[]> {
  const names: string[] = [];
  let nextToken: string | undefined;
  do {
    const input = { logGroupNamePrefix, limit: 50, ...(nextToken && { nextToken }) };
    const target = 'Logs_20140328.DescribeLogGroups';
    const answer = await callJson(endpoint, { service: 'logs', target, input });
    const { logGroups, nextToken: next } = answer as {
      logGroups: { logGroupName: string }[];
      nextToken?: string;
    };
    names.push(...logGroups.map(({ logGroupName }) => logGroupName));
    nextToken = next;
  } while (nextToken !== undefined);
  return names;
}

async function readGroup(endpoint: string, logGroupName: string, startTime: number): Promise<LogEvent[]> {
  const found: LogEvent[] = [];
  let nextToken: string | undefined;
  do {
    const input = { logGroupName, startTime, ...(nextToken && { nextToken }) };
    const target = 'Logs_20140328.FilterLogEvents';
    const answer = await callJson(endpoint, { service: 'logs', target, input });
    const { events, nextToken: next } = answer as { events: LogEvent[]; nextToken?: string };
    found.push(...events);
    nextToken = next;
  } while (nextToken !== undefined);
  return found;
}
