import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import { setEnvironment } from '#platform/config.ts';
import { addLogFields, createLogger, loggedCausesMax, runWithLogFields } from '#platform/services/logger.ts';

let written: MockInstance<typeof process.stderr.write>;

beforeEach(() => {
  written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});

afterEach(() => void written.mockRestore());

function getLines(): readonly { readonly [field: string]: unknown }[] {
  return written.mock.calls.map(([text]) => JSON.parse(String(text)));
}

it('writes lines of JSON with the fields of what is being done, those found out since, and those of the line', () => {
  const log = createLogger({ logLevel: 'INFO', placement: 'local' });

  runWithLogFields({ function: 'f', user: 'ada' }, () => {
    runWithLogFields({ taskId: 't' }, () => {
      log.info('started');
      addLogFields({ account: 'prod', user: 'bob' });
      log.warn('went on', { attempt: 2 });
    });
    log.info('over');
  });
  addLogFields({ account: 'of nobody' });
  log.info('outside');

  expect(getLines()).toEqual([
    expect.objectContaining({ level: 'INFO', message: 'started', function: 'f', user: 'ada', taskId: 't' }),
    expect.objectContaining({ level: 'WARN', user: 'bob', taskId: 't', account: 'prod', attempt: 2 }),
    expect.objectContaining({ message: 'over', function: 'f', user: 'ada' }),
    expect.objectContaining({ message: 'outside' }),
  ]);
  expect(getLines()[2]).not.toHaveProperty('account');
  expect(getLines()[3]).not.toHaveProperty('account');
});

it('keeps apart what runs at once', async () => {
  const log = createLogger({ logLevel: 'INFO', placement: 'local' });
  await Promise.all(
    ['a', 'b'].map((taskId) =>
      runWithLogFields({ taskId }, async () => {
        await Promise.resolve();
        addLogFields({ account: `of ${taskId}` });
        await Promise.resolve();
        log.info('here');
      }),
    ),
  );

  expect(getLines()).toEqual([
    expect.objectContaining({ taskId: 'a', account: 'of a' }),
    expect.objectContaining({ taskId: 'b', account: 'of b' }),
  ]);
});

it('joins the lines to the trace of X-Ray, where there is one', () => {
  const log = createLogger({ logLevel: 'INFO', placement: 'local' });
  log.info('without');
  setEnvironment({
    _X_AMZN_TRACE_ID: 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=557abcec3ee5a047;Sampled=1',
  });
  log.info('with');
  setEnvironment({ _X_AMZN_TRACE_ID: '' });

  const [without, with_] = getLines();
  expect(without).not.toHaveProperty('xray_trace_id');
  expect(with_?.['xray_trace_id']).toBe('1-5759e988-bd862e3fe1be46a994272793');
});

it('tells of an error its name, message, code and causes, and none of its other properties', () => {
  const log = createLogger({ logLevel: 'INFO', placement: 'local' });
  const parser = Object.assign(new Error('does not match HTTP/1.1'), {
    code: 'HPE_INVALID',
    data: 'planted-bytes',
  });
  const request = { headers: { authorization: 'planted-token' } };
  const error = Object.assign(new TypeError('no answer', { cause: parser }), { request });
  log.warn('failed', { error, reason: error, account: 'prod' });

  const told = {
    name: 'TypeError',
    message: 'no answer',
    stack: expect.stringContaining('logger.test.ts'),
    cause: expect.objectContaining({ message: 'does not match HTTP/1.1', code: 'HPE_INVALID' }),
  };
  expect(getLines()).toEqual([expect.objectContaining({ account: 'prod', error: told, reason: told })]);
  expect(written.mock.calls.join()).not.toContain('planted');
});

it('tells of causes without end the first ones', () => {
  const log = createLogger({ logLevel: 'INFO', placement: 'local' });
  const error = new Error('round');
  error.cause = error;
  log.error('failed', { error });
  expect(String(written.mock.calls[0]).split('"message":"round"')).toHaveLength(loggedCausesMax + 2);
});
