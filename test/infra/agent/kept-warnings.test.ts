import { describe, expect, it } from 'vitest';
import { warningLengthMax, warningsMax } from '#agents/protocol/messages.ts';
import { keepWarnings, warningBytesMax } from '#infra/agent/kept-warnings.ts';

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

describe('the last warnings of an agent', () => {
  it('stay until later ones take their place', () => {
    const { log, listWarnings } = keepWarnings(silent, { now: () => 0 });
    log.info('nothing');
    log.warn('one', { token: 'hunter2' });
    log.error('two');
    const expected = ['1970-01-01T00:00:00.000Z one', '1970-01-01T00:00:00.000Z two'];
    expect(listWarnings()).toEqual(expected);
    expect(listWarnings()).toEqual(expected);
    for (let index = 0; index < 2 * warningsMax; index += 1) log.warn(`more ${index}`);
    expect(listWarnings()).toHaveLength(warningsMax);
    expect(listWarnings().at(-1)).toContain(`more ${2 * warningsMax - 1}`);
  });

  it('fit into an item of a table, however long they are', () => {
    const { log, listWarnings } = keepWarnings(silent, { now: () => 0 });
    for (let index = 0; index < warningsMax; index += 1)
      log.warn(`${index} ${'€'.repeat(10 * warningLengthMax)}`);
    expect(Buffer.byteLength(listWarnings().join(''))).toBeLessThanOrEqual(warningBytesMax);
    expect(listWarnings().length).toBeGreaterThan(10);
    expect(listWarnings().at(-1)).toContain(`${warningsMax - 1} €`);
  });
});
