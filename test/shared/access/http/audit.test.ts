import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '#access/audit.ts';
import { auditListMax, auditValueLengthMax, toAuditFields } from '#access/audit.ts';
import { Audit, auditEventsPerSecond, auditPublishMs } from '#access/http/audit.ts';
import { AuditTrail } from '#access/http/audit-trail.ts';
import { AccessDeniedError, InvalidInputError, ViolationList } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { makeApiFunction } from '#http/api-function.ts';
import type { Gate } from '#http/gate.ts';
import type { BusEvent } from '#platform/ports/event-bus.ts';
import { createStandingClock, createTestClock, type TestClock } from '#test/support/run/test-clock.ts';
import { fullAccess } from '#test/support/system/request-access.ts';

const refused: AuditRecord = { action: 'GET /task/{id}', outcome: 'refused', status: 403, user: 'eve' };
const read: AuditRecord = { action: 'readSecret', outcome: 'allowed', status: 200, user: 'ada' };

function createAudit(clock: TestClock, publish?: (events: readonly BusEvent[]) => Promise<void>) {
  const logged: string[] = [];
  const published: BusEvent[] = [];
  const note = (message: string): void => void logged.push(message);
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  const bus = { publish: publish ?? (async (events) => void published.push(...events)) };
  return { audit: new Audit({ log, bus, clock }), logged, published };
}

describe('the bus', () => {
  it('gets no more refusals a second than it should, and the log gets all', async () => {
    const clock = createStandingClock();
    const { audit, logged, published } = createAudit(clock);
    for (let index = 0; index < 100; index += 1) await audit.record(refused);

    expect([logged.length, published.length]).toEqual([100, auditEventsPerSecond]);
    clock.advance(1000);
    await audit.record(refused);
    expect(published).toHaveLength(auditEventsPerSecond + 1);
  });

  it('gets what was allowed, however many refusals there are', async () => {
    const { audit, published } = createAudit(createStandingClock());
    for (let index = 0; index < 100; index += 1) await audit.record(refused);
    await audit.record(read);
    expect(published.at(-1)).toMatchObject({ type: 'Audit', detail: { action: 'readSecret', user: 'ada' } });
  });

  it('is told of accepted operations by their task alone', async () => {
    const { audit, logged, published } = createAudit(createStandingClock());
    await audit.record({ action: 'startOperations', outcome: 'allowed', status: 200 });
    await audit.record({ action: 'startOperations', outcome: 'refused', status: 400 });
    expect(logged).toHaveLength(2);
    expect(published.map(({ detail }) => detail['outcome'])).toEqual(['refused']);
  });

  it('that refuses fails nothing', async () => {
    const { audit, logged } = createAudit(createStandingClock(), async () => {
      throw new Error('away');
    });
    await audit.record(read);
    expect(logged).toEqual(['audit', 'an audit event could not be published; the log has it']);
  });

  it('that never answers is not waited for long', async () => {
    const clock = createTestClock();
    const { audit, logged } = createAudit(clock, () => new Promise(() => undefined));
    const done = audit.record(read);
    clock.advance(auditPublishMs);
    await done;

    expect(logged).toEqual(['audit', 'an audit event could not be published; the log has it']);
  });
});

describe('a record', () => {
  it('is cut where callers made it long', () => {
    const long = 'x'.repeat(10_000);
    const fields = toAuditFields({ ...refused, account: long, accounts: Array(500).fill(long) });
    expect(fields['account']).toHaveLength(auditValueLengthMax);
    expect(fields['accounts']).toHaveLength(auditListMax);
    expect(JSON.stringify(fields).length).toBeLessThan(20_000);
  });

  it('names who calls by what the installation knows, though he is refused before he is let in', () => {
    const trail = new AuditTrail(toEvent({ 'X-SPINNAKER-USER': 'admin' }));
    trail.identify({ user: 'eve' });
    trail.fail(new AccessDeniedError('Access denied'));
    expect(trail.listRecords(403)).toMatchObject([{ action: 'deleteJob', user: 'eve', outcome: 'refused' }]);
    expect(trail.listRecords(403)[0]).not.toHaveProperty('claimedUser');
  });

  it('is of a refusal, however many other violations stand before it', () => {
    const violations = new ViolationList();
    for (let index = 0; index < 500; index += 1) violations.add(new InvalidInputError(`violation ${index}`));
    violations.refuse('Access denied to account gated');
    const trail = new AuditTrail(toEvent({}));
    try {
      violations.check();
    } catch (error) {
      trail.fail(error);
    }

    expect(trail.listRecords(400)).toMatchObject([
      { outcome: 'refused', status: 400, reason: 'Access denied to account gated' },
    ]);
  });

  it('tells of a function that ran out of time what it did', async () => {
    const recorded: AuditRecord[] = [];
    const gate: Gate = {
      admit: async () => ({ ...fullAccess, route: { ...fullAccess.route, audit: 'deleteJob' } }),
      record: async (records) => void recorded.push(...records),
    };
    const log: Logger = { debug() {}, info() {}, warn() {}, error() {} };
    const never = (): Promise<never> => new Promise(() => undefined);
    const handler = makeApiFunction({ open: () => ({ log }), run: never }, gate) as (
      event: APIGatewayProxyEvent,
      context: Context,
    ) => Promise<unknown>;
    const context = { functionName: 'f', awsRequestId: 'r', getRemainingTimeInMillis: () => 300 };

    expect(await handler(toEvent({}), context as Context)).toMatchObject({ statusCode: 504 });
    expect(recorded).toMatchObject([
      { action: 'deleteJob', outcome: 'failed', status: 504, account: 'gated', name: 'job a' },
    ]);
  });
});

function toEvent(headers: { readonly [name: string]: string }): APIGatewayProxyEvent {
  return {
    httpMethod: 'DELETE',
    resource: '/applications/{application}/jobs/{account}/{location}/{id}',
    pathParameters: { application: 'a', account: 'gated', location: 'default', id: 'job a' },
    headers,
  } as unknown as APIGatewayProxyEvent;
}
