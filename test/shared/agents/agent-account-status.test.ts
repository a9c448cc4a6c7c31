import { expect, it } from 'vitest';
import { getAgentAccountStatus } from '#agents/agent-account-status.ts';
import type { EnrolmentChange, EnrolmentEvent } from '#agents/agent-enrolment.ts';

const nowMs = 1_000_000_000;
const minute = 60_000;
const change = (event: EnrolmentEvent, atMs: number): EnrolmentChange => ({
  ...{ event, atMs, by: undefined, clusterUid: 'c' },
});
const session = (openedAtMs: number, { seenAtMs = nowMs, isClosed = false } = {}) => ({
  ...{ openedAtMs, seenAtMs, isClosed },
});

const anew = [change('enrolled', 9), change('revoked', 8), change('bound', 1)];
const closed = (openedAtMs: number) => session(openedAtMs, { isClosed: true });

it.each([
  ['INACTIVE', 'no agent is let in, though one was heard of a moment ago', true, [], [session(1)]],
  ['ACTIVATING', 'nobody came yet', false, [], []],
  ['ACTIVE', 'an agent is connected', false, [], [session(1)]],
  ['ORPHANED', 'its only agent closed its session', false, [], [closed(1)]],
  ['ORPHANED', 'its agent is silent', false, [], [session(1, { seenAtMs: nowMs - 10 * minute })]],
  ['ORPHANED', 'nobody remembers its agents, but its cluster', false, [change('bound', 1)], []],
  ['ACTIVATING', 'agents are let in again, and none came since', false, anew, [closed(1)]],
  ['ORPHANED', 'one came since agents were let in again, and left', false, anew, [closed(10)]],
] as const)('an account is %s when %s', (...[status, , isRevoked, changes, sessions]) => {
  expect(getAgentAccountStatus({ enrolment: { isRevoked, changes }, sessions, nowMs })).toBe(status);
});
