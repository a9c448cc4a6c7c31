import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sessionTokenMs } from '#agents/agent-session.ts';
import { cachingAgentsPerMessage, messagesPerSend } from '#caching/scheduling/caching-agent-queue.ts';
import {
  defaultCachingAgentIntervalMs,
  idleIntervalMs,
  slotsPerInterval,
} from '#caching/scheduling/caching-agent-schedule.ts';
import { cachingAgentsPerStream } from '#caching/scheduling/streams/stream-queue.ts';
import { streamLeaseMs } from '#caching/scheduling/streams/stream-worker.ts';
import { deadLetterReasons } from '#core/metrics.ts';
import { queues } from '#functions/queues.ts';
import { schedules } from '#functions/schedules.ts';
import { code, measured, templates } from '#infra/tools/cost/assumptions.ts';
import { parseAgentSettings } from '#settings/agent-settings.ts';
import { taskRetentionMs } from '#tasks/task.ts';
import { root } from '#test/architecture/source-files.ts';
import { getOptions } from '#test/infra/aws/assembly/option-sets.ts';
import { synthesize } from '#test/infra/aws/stacks/synthesize.ts';

/** A number that a file keeps to itself; of `4 * 60_000` how many minutes. */
function findConstant(file: string, name: string): number {
  const found = new RegExp(`const ${name} = ([\\d_.]+)`).exec(readFileSync(join(root, file), 'utf8'))?.[1];
  return Number(found?.replaceAll('_', ''));
}

const workers = queues.find(({ name }) => name === 'agents');
const cachingQueues = queues.filter(({ stack }) => stack === 'caching');

it('bills take from the code what it says', () => {
  const renewalShare = findConstant('infra/agent/hub/agent-session.ts', 'renewalShare');
  expect(code).toEqual({
    interval: defaultCachingAgentIntervalMs / 1_000,
    idleInterval: idleIntervalMs / 1_000,
    turnSlots: slotsPerInterval,
    agentsPerMessage: cachingAgentsPerMessage,
    messagesPerSend,
    agentsPerStream: cachingAgentsPerStream,
    workerGb: Number(((workers?.memoryMb ?? 0) / 1_024).toFixed(4)),
    flushSeconds:
      findConstant('shared/caching/scheduling/streams/caching-agent-watch.ts', 'storeIntervalMs') / 1_000,
    taskMonths: Number((taskRetentionMs / (30.4 * 24 * 3_600_000)).toFixed(2)),
    agentPingMinutes: findConstant('infra/agent/hub/hint-connection.ts', 'pingMs'),
    agentRenewalMinutes: (renewalShare * sessionTokenMs) / 60_000,
  });
  expect(new Set(queues.map(({ memoryMb }) => memoryMb)).size).toBe(1);
});

it('what was counted of agents fits to the times of the code', () => {
  expect(measured.agentQuestionsMinute).toBe(60_000 / parseAgentSettings({}).pollConnectedMs);
  // A lease is renewed three times before it would lapse, and claimed when it may have lapsed.
  expect(measured.agentKeepsMinute).toBe((3 * 60_000) / streamLeaseMs);
  expect(measured.agentClaimsMinute).toBeGreaterThanOrEqual(60_000 / streamLeaseMs);
  expect(measured.agentClaimsMinute).toBeLessThanOrEqual((1.5 * 60_000) / streamLeaseMs);
});

it('bills count what the templates have', () => {
  const made = [...synthesize(getOptions('private, endpoint made')).values()];
  const find = (type: string) => made.flatMap((template) => Object.values(template.findResources(type)));
  const watched = find('AWS::CloudWatch::Alarm').flatMap(({ Properties }) => Properties.Metrics ?? [1]);
  // Workers that cache log AgentLag and TooLarge; the scheduler logs SettingsUnusable, and two counts with their shares.
  const logged = 2 * cachingQueues.length + 5;
  expect(templates).toEqual({
    alarms: watched.length,
    customMetrics: logged + deadLetterReasons.length * queues.length,
    polledQueues: 2 * queues.length,
    secrets: find('AWS::SecretsManager::Secret').length,
  });
  const single = ['CloudWatch::Dashboard', 'KMS::Key', 'EC2::VPCEndpoint'];
  expect(single.map((type) => find(`AWS::${type}`).length)).toEqual([1, 1, 1]);
  expect(schedules).toHaveLength(2);
});
