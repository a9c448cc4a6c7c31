import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { queues } from '../../../functions/queues.ts';
import { assumptions } from '../../../infra/cost/assumption-data.ts';
import { getOwnPrices } from '../../../infra/cost/prices.ts';
import { quantities } from '../../../infra/cost/quantities.ts';
import { agentsPerMessage, messagesPerSend } from '../../../shared/core/agents/agent-queue.ts';
import {
  defaultAgentIntervalMs,
  idleIntervalMs,
  slotsPerInterval,
} from '../../../shared/core/agents/agent-schedule.ts';
import { agentsPerStream } from '../../../shared/core/agents/streams/stream-queue.ts';
import { streamLeaseMs } from '../../../shared/core/agents/streams/stream-worker.ts';
import { parseAgentSettings } from '../../../shared/core/settings/agent-settings.ts';
import { sessionTokenMs } from '../../../shared/core/tasks/agent-session.ts';
import { taskRetentionMs } from '../../../shared/core/tasks/task.ts';
import { writingConcurrency } from '../../../shared/providers/kubernetes/cache-writer/writer-context.ts';
import { root } from '../../architecture/source-files.ts';

/** A number that a file keeps to itself. */
function findConstant(file: string, name: string): number {
  const text = readFileSync(join(root, file), 'utf8');
  // Of `4 * 60_000` it is how many minutes.
  const found = new RegExp(`const ${name} = ([\\d_.]+)`).exec(text)?.[1];
  if (found === undefined) throw new Error(`${file} has no number ${name} any more`);
  return Number(found.replaceAll('_', ''));
}

const agents = queues.find(({ name }) => name === 'agents');

describe('what the code says', () => {
  it.each([
    ['interval', defaultAgentIntervalMs / 1_000],
    ['idleInterval', idleIntervalMs / 1_000],
    ['turnSlots', slotsPerInterval],
    ['agentsPerMessage', agentsPerMessage],
    ['messagesPerSend', messagesPerSend],
    ['agentsPerStream', agentsPerStream],
    ['concurrentFills', agents?.concurrency],
    ['workerGb', Number(((agents?.memoryMb ?? 0) / 1_024).toFixed(4))],
    ['taskMonths', Number((taskRetentionMs / (30.4 * 24 * 3_600_000)).toFixed(2))],
    ['flushSeconds', findConstant('shared/core/agents/streams/agent-watch.ts', 'storeIntervalMs') / 1_000],
    ['concurrentWrites', writingConcurrency],
    ['agentPingMinutes', findConstant('infra/agent/hint-connection.ts', 'pingMs')],
    [
      'agentRenewalMinutes',
      (findConstant('infra/agent/agent-session.ts', 'renewalShare') * sessionTokenMs) / 60_000,
    ],
    // Each of two workers tells how late agents ran, and what is too large; alarms watch the former.
    ['unwatchedMetrics', queues.filter(({ stack }) => stack === 'caching').length],
  ] as const)('%s is what bills reckon with', (name, value) => {
    expect(assumptions[name].value).toBe(value);
  });

  it('is looked at whole', () => {
    const quoted = Object.entries(assumptions).filter(([, { origin }]) => origin === 'code');
    expect(quoted).toHaveLength(14);
  });

  it('is what was counted of agents from outside', () => {
    const { pollConnectedMs } = parseAgentSettings({});
    expect(assumptions.agentQuestionsMinute.value).toBe(60_000 / pollConnectedMs);
    // A lease is renewed three times before it would lapse, and claimed when it may have lapsed.
    expect(assumptions.agentKeepsMinute.value).toBe((3 * 60_000) / streamLeaseMs);
    const { value: claims } = assumptions.agentClaimsMinute;
    expect(claims).toBeGreaterThanOrEqual(60_000 / streamLeaseMs);
    expect(claims).toBeLessThanOrEqual((1.5 * 60_000) / streamLeaseMs);
  });

  it('has workers of one size', () => {
    expect(new Set(queues.map(({ memoryMb }) => memoryMb)).size).toBe(1);
  });
});

it('no two things that formulas name have one name', () => {
  const names = [assumptions, quantities, Object.fromEntries(getOwnPrices())].flatMap(Object.keys);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
