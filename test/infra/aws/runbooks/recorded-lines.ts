import { vi } from 'vitest';
import { type AuditRecord, toAuditEvent } from '#access/audit.ts';
import { Audit } from '#access/http/audit.ts';
import { toRunEvent } from '#caching/scheduling/caching-agent-events.ts';
import type { StoredCachingAgent } from '#caching/scheduling/caching-agent-store.ts';
import { tellStaleAccounts } from '#caching/scheduling/schedule-turns.ts';
import { tellDeadLetter } from '#http/events/dead-letters.ts';
import { readEnvironment } from '#platform/config.ts';
import type { BusEvent } from '#platform/ports/event-bus.ts';
import { createLogger, runWithLogFields } from '#platform/services/logger.ts';
import { Services } from '#platform/services/services.ts';
import { makeAccount, writeConfig } from '#test/infra/local/start-files.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { startSystem } from '#test/support/system/system.ts';
import { getTemplate, synthesize } from '../stacks/synthesize.ts';
import type { LogLine } from './filter-pattern.ts';

/** Lines of each group of logs. */
export interface RecordedLines {
  /** Of functions: what ours write, and what Lambda itself does. */
  readonly functions: readonly LogLine[];
  /** Of API Gateway. */
  readonly access: readonly LogLine[];
  /** Of the event bus. */
  readonly events: readonly LogLine[];
}

/** The id that pages are given in the place of `<id>`. */
const filledInId = '01JD0000000000000000000000';

/** What a system really writes that gets an account that is left out, a task and a request that fail, besides what is told to it. */
export async function recordLines(): Promise<RecordedLines> {
  const ofSystem = await runSystem();
  const told = recordTold();
  return {
    functions: [...ofSystem.lines, ...told, ...platformReports],
    access: [
      toAccessLine(accessValues),
      toAccessLine({ ...accessValues, status: '503', error: 'INTEGRATION_FAILURE' }),
    ],
    events: [...ofSystem.events, ...listEvents()],
  };
}

async function runSystem(): Promise<{ lines: LogLine[]; events: LogLine[] }> {
  await using dir = await makeTempDir();
  const account = await makeAccount(dir);
  const yaml = account.replace('accounts: [', 'accounts: [{name: broken, eks: {}}, ');
  await using system = await startSystem({ config: [await writeConfig(dir, yaml)] });
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'shop' } };
  const answer = await system.fetch('/kubernetes/ops', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-SPINNAKER-USER': 'ada@example.com',
      'X-SPINNAKER-APPLICATION': 'shop',
      'X-SPINNAKER-EXECUTION-ID': filledInId,
    },
    body: JSON.stringify([
      {
        deployManifest: { account: 'prod', source: 'text', manifests: [manifest], moniker: { app: 'shop' } },
      },
    ]),
  });
  const { id } = (await answer.json()) as { id: string };
  await system.waitForTask(id);
  await system.fetch('/manifests/prod/shop/configMap%20one');
  const events = await vi.waitUntil(async () => {
    const found = await system.readEvents();
    return found.some((event) => event['detail-type'] === 'TaskFailed') ? found : undefined;
  });
  const lines = parseLines(system.stderr).map((line) =>
    line['taskId'] === id ? { ...line, taskId: filledInId } : line,
  );
  return { lines, events: events.map((event) => ({ ...event })) };
}

/** Lines that take more than one machine and a few seconds, by the functions that write them, with our logger. */
function recordTold(): LogLine[] {
  const log = createLogger({ logLevel: 'INFO', placement: 'local' });
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const audit = new Audit({ log, clock: createTestClock(), bus: { publish: async () => undefined } });
    for (const record of records) void audit.record(record);
    tellStaleAccounts(log, { all: 20, stale: ['edge', 'prod'] }, { told: '', turns: 0 });
    const all = new Services(readEnvironment());
    const services = { log, clock: createTestClock(), config: { logLevel: 'INFO' }, all } as const;
    for (const reason of ['unbegun', 'unended'] as const)
      runWithLogFields({ taskId: filledInId }, () => tellDeadLetter(services, reason, { deliveries: 5 }));
    return parseLines(written.mock.calls.map(([text]) => String(text)).join(''));
  } finally {
    written.mockRestore();
  }
}

const records: readonly AuditRecord[] = [
  {
    ...{ action: 'readSecret', outcome: 'allowed', status: 200, user: 'ada@example.com', account: 'prod' },
    ...{ location: 'shop', name: 'secret one', values: 'shown' },
  },
  { action: 'changeTask', outcome: 'allowed', status: 200, user: 'ada', taskId: filledInId, account: 'prod' },
  {
    ...{ action: 'startOperations', outcome: 'refused', status: 400, user: 'bob', account: 'prod' },
    reason: 'Access denied to account prod',
  },
  { action: 'GET /task/{id}', outcome: 'refused', status: 401, claimedUser: 'eve', reason: 'no token' },
];

function listEvents(): LogLine[] {
  const key = { account: 'prod', name: 'core', provider: 'kubernetes' };
  const lastRun = {
    outcome: 'SUCCESS',
    durationMs: 5,
    items: 7,
    changes: 1,
    startedAtMs: 5,
    lagMs: 0,
  } as const;
  const ended = { intervalMs: 30_000, lastTurn: 0, nextRunMs: 9, attempts: 0, failures: 0, usedAtMs: 0 };
  const agents: StoredCachingAgent[] = [undefined, 0, 2].map((drift) => ({
    ...key,
    ...ended,
    lastRun: { ...lastRun, drift },
  }));
  const events = [
    ...agents.map((agent) => toRunEvent({ agent, before: agent, error: undefined, lagMs: 0 })),
    ...records.map((record) => toAuditEvent(record, 5)),
  ];
  return events.map(toEventLine);
}

/** As EventBridge puts it into its log, as far as our pages look at it. */
function toEventLine({ type, detail }: BusEvent): LogLine {
  return { 'detail-type': type, source: 'busdriver', detail: JSON.parse(JSON.stringify(detail)) as unknown };
}

/** Lambda's own lines: "Lambda Telemetry API Event schema reference", with the levels of "Log-level filtering". */
const platformReports: readonly LogLine[] = [
  { status: 'success' },
  { status: 'timeout' },
  { status: 'error', errorType: 'Runtime.ExitError' },
  { status: 'failure', errorType: 'Runtime.OutOfMemory' },
].map((end) => ({
  time: '2026-11-20T08:00:00.000Z',
  type: 'platform.report',
  record: {
    requestId: '79b4f56e-95b1-4643-9700-2807f4e68189',
    ...end,
    metrics: { durationMs: 900_000, billedDurationMs: 900_000, memorySizeMB: 1769, maxMemoryUsedMB: 412 },
  },
}));

/** Values of `$context`: "Variables for access logging for API Gateway". */
const accessValues: { readonly [field: string]: string } = {
  requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
  traceId: '1-5759e988-bd862e3fe1be46a994272793',
  time: '20/Nov/2026:08:00:00 +0000',
  method: 'GET',
  path: '/task/01JD',
  route: '/task/{id}',
  status: '200',
  latencyMs: '42',
  functionLatencyMs: '40',
  functionStatus: '200',
  bytes: '512',
  error: '-',
  from: '10.0.0.7',
};

/** A line as the format of the synthesized stage has it: a variable in quotes becomes a text. */
function toAccessLine(values: { readonly [field: string]: string }): LogLine {
  const stages = getTemplate(synthesize(), 'api').findResources('AWS::ApiGateway::Stage');
  const [stage] = Object.values(stages);
  const format: string = stage?.['Properties'].AccessLogSetting.Format;
  const fields = [...format.matchAll(/"(\w+)":"?(\$context[\w.]+)/g)];
  const line = fields.reduce((text, [, name = '', variable = '']) => {
    const filled = values[name];
    if (filled === undefined) throw new Error(`there is no value for ${name}`);
    return text.replace(new RegExp(`${RegExp.escape(variable)}(?![\\w.])`), filled);
  }, format);
  return JSON.parse(line) as LogLine;
}

function parseLines(text: string): LogLine[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}
