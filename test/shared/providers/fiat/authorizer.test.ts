import { beforeEach, describe, expect, it } from 'vitest';
import type { Authorizer, UserPermission } from '#access/authorizer.ts';
import { UnavailableError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Provider } from '#provider-kit/provider.ts';
import { createAuthorizer, userLengthMax } from '#providers/fiat/authorizer.ts';
import { createFiatClient, type FiatClient } from '#providers/fiat/client.ts';
import { fiatPlugin } from '#providers/fiat/index.ts';
import { requestsMax } from '#providers/fiat/shared-requests.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { type Fiat, type FiatMode, startFiat } from '#test/support/services/fiat.ts';
import {
  createTestClock,
  createTestLog,
  createTestOptions,
  middling,
  neverAborted,
  type TestClock,
} from '../artifacts/options.ts';

const users = {
  ada: { accounts: { prod: ['READ', 'WRITE'] } },
  'a/b c@d': { admin: true },
  anonymous: { accounts: { open: ['READ'] } },
} as const;

let fiat: Fiat;
let clock: TestClock;
let log: ReturnType<typeof createTestLog>;
let client: FiatClient;
let authorizer: Authorizer;

beforeEach(async () => {
  fiat = await startFiat({ users });
  clock = createTestClock();
  log = createTestLog();
  open();
});
disposeAfterEach(() => [client, fiat]);

/** Opens the authorizer. Its pauses between tries end at once. */
function open(
  settings: { staleMs?: number; usersMax?: number; tryMs?: number; totalMs?: number } = {},
): void {
  const { tryMs = 20_000, totalMs = 20_000, staleMs = 0, usersMax = 1_000 } = settings;
  client = createFiatClient({
    baseUrl: new URL(`${fiat.url}/`),
    clock,
    randomness: middling,
    limits: { totalMs, tryMs, retryDelayMs: 500, bytesMax: 100_000 },
  });
  authorizer = createAuthorizer({ client, settings: { keptMs: 20_000, staleMs, usersMax }, clock, log });
}

const ask = (user?: string): Promise<UserPermission> => authorizer.getPermission(user, neverAborted());

describe('a user', () => {
  it('may do what Fiat says', async () => {
    expect(await ask('ada')).toMatchObject({
      user: 'ada',
      isAdmin: false,
      accounts: new Map([['prod', new Set(['READ', 'WRITE'])]]),
    });
    expect(fiat.calls).toMatchObject([{ path: '/authorize/ada', headers: { 'x-spinnaker-user': 'ada' } }]);
  });

  it('is asked for by a path that his name cannot leave', async () => {
    expect(await ask('a/b c@d')).toMatchObject({ isAdmin: true });
    expect(fiat.calls.map(({ path }) => path)).toEqual(['/authorize/a%2Fb%20c%40d']);
  });

  it.each(['.', '..', 'a\nb', 'a\u0000', 'a\ud800', 'x'.repeat(userLengthMax + 1)])(
    'who cannot exist may do nothing, and Fiat does not hear of him: %j',
    async (user) => {
      expect(await ask(user)).toMatchObject({ isAdmin: false, accounts: new Map() });
      expect(fiat.calls).toEqual([]);
    },
  );

  it.each([undefined, ''])('who is not named (%j) is anonymous', async (user) => {
    expect(await ask(user)).toMatchObject({
      user: 'anonymous',
      accounts: new Map([['open', new Set(['READ'])]]),
    });
    expect(fiat.calls).toMatchObject([{ path: '/authorize/anonymous' }]);
    expect(fiat.calls[0]?.headers).not.toHaveProperty('x-spinnaker-user');
  });

  it('whom Fiat does not know may do nothing, which is kept and told', async () => {
    for (let request = 0; request < 3; request += 1)
      expect(await ask('eve')).toMatchObject({ user: 'eve', isAdmin: false, accounts: new Map() });
    expect(fiat.calls).toHaveLength(1);
    expect(log.lines).toEqual([expect.stringMatching(/^Fiat does not know a user.*"eve"/)]);
  });
});

describe('Fiat', () => {
  it('is asked once a user each 20 seconds, whoever asks', async () => {
    await Promise.all(Array.from({ length: 100 }, () => ask('ada')));
    clock.advance(19_999);
    await ask('ada');
    expect(fiat.calls).toHaveLength(1);
    fiat.users = { ada: { accounts: { prod: ['READ'] } } };
    clock.advance(1);
    expect((await ask('ada')).accounts.get('prod')).toEqual(new Set(['READ']));
    expect(fiat.calls).toHaveLength(2);
  });

  it('is asked on connections that stay', async () => {
    for (let user = 0; user < 20; user += 1) await ask(`u${user}`);
    expect(fiat.calls).toHaveLength(20);
    expect(fiat.connections).toBeLessThanOrEqual(2);
  });

  it('is asked again for who was asked for longest ago, when there are too many', async () => {
    open({ usersMax: 2 });
    for (const user of ['ada', 'eve', 'bob', 'eve', 'bob', 'ada']) await ask(user);
    expect(fiat.calls.map(({ path }) => path.slice('/authorize/'.length))).toEqual([
      'ada',
      'eve',
      'bob',
      'ada',
    ]);
  });

  it('hears no more of a request that is over, and others go on', async () => {
    await fiat.setMode('slow');
    const [one, other] = [new AbortController(), new AbortController()];
    const first = authorizer.getPermission('ada', one.signal);
    const second = authorizer.getPermission('ada', other.signal);
    await expect.poll(() => fiat.calls).toHaveLength(1);
    one.abort();
    await expect(first).rejects.toThrow(UnavailableError);
    expect(await second).toMatchObject({ user: 'ada' });

    let isBroken = false;
    fiat.instead = (request) =>
      request.on('close', () => {
        isBroken = true;
      });
    const third = authorizer.getPermission('bob', other.signal);
    await expect.poll(() => fiat.calls).toHaveLength(2);
    other.abort();
    await expect(third).rejects.toThrow('The time of the request was over before Fiat had answered');
    await expect.poll(() => isBroken).toBe(true);
    expect(log.lines).toEqual([]);
  });

  it('is not asked for more users at once than it can bear', async () => {
    await fiat.setMode('silent');
    open({ tryMs: 60_000, totalMs: 60_000 });
    const over = new AbortController();
    const asking = Array.from({ length: requestsMax }, (_, index) =>
      authorizer.getPermission(`u${index}`, over.signal),
    );
    await expect(ask('one-more')).rejects.toThrow(
      /^Fiat is being asked for 256 users at this moment; try again$/,
    );
    over.abort();
    const results = await Promise.allSettled(asking);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    await fiat.setMode('up');
    expect(await ask('ada')).toMatchObject({ user: 'ada' });
  });
});

const reasons: readonly [FiatMode, RegExp][] = [
  ['silent', /no answer within 100 ms$/],
  ['down', /ECONNREFUSED/],
  ['500', /it answered 500$/],
  ['no-json', /its answer is not JSON$/],
  ['wrong-json', /its answer has accounts that are no list$/],
  ['huge', /its answer is larger than 100000 bytes$/],
];

describe('while Fiat does not answer', () => {
  it.each(reasons)('(%s) nobody may do anything, and the log tells why', async (mode, reason) => {
    await fiat.setMode(mode);
    if (mode === 'silent') open({ tryMs: 100 });
    const failure: unknown = await getFailure(ask('ada'));
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(String(failure)).toMatch(/Fiat \(http:\/\/127\.0\.0\.1:\d+\) cannot be asked: /);
    expect(String(failure)).toMatch(reason);
    expect(log.lines).toEqual([
      expect.stringMatching(/^Fiat does not tell what users may do: requests are refused .*"failures":1/),
    ]);
    expect(String(failure) + log.lines.join()).not.toContain('planted');
    await fiat.setMode('up');
    expect(await ask('ada')).toMatchObject({ user: 'ada' });
  });

  it.each<FiatMode>(['500', 'silent'])(
    '(%s) it is asked again after a little more each time',
    async (mode) => {
      if (mode === 'silent') open({ tryMs: 250 });
      fiat.instead = (_, response) => {
        if (fiat.calls.length > 3) fiat.instead = undefined;
        if (mode === '500') response.writeHead(500).end();
      };
      expect(await ask('ada')).toMatchObject({ user: 'ada' });
      expect(clock.sleeps.slice(0, 3)).toEqual([500, 750, 1125]);
    },
  );

  it('in time, the question ends in time', async () => {
    await fiat.setMode('silent');
    open({ tryMs: 600_000, totalMs: 300 });
    await expect(ask('ada')).rejects.toThrow(/no answer within 300 ms$/);
  });

  it('but little by little, a try ends in time', async () => {
    open({ tryMs: 100 });
    fiat.instead = (_, response) => {
      const trickle = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(trickle));
    };
    await expect(ask('ada')).rejects.toThrow(/no answer within 100 ms$/);
  });

  it('one try must do for the next question, for a while', async () => {
    await fiat.setMode('no-json');
    await expect(ask('ada')).rejects.toThrow();
    fiat.instead = (_, response) => response.writeHead(500).end();
    const before = fiat.calls.length;
    await expect(ask('ada')).rejects.toThrow('it answered 500');
    expect(fiat.calls).toHaveLength(before + 1);
    clock.advance(10_000);
    fiat.instead = (_, response) => {
      fiat.instead = undefined;
      response.writeHead(500).end();
    };
    await fiat.setMode('up');
    expect(await ask('ada')).toMatchObject({ user: 'ada' });
    expect(log.lines.at(-1)).toMatch(/^Fiat answers again .*"failures":2/);
  });

  it('the log tells it once in ten seconds', async () => {
    await fiat.setMode('no-json');
    for (let second = 0; second < 25; second += 1) {
      await ask('ada').catch(() => undefined);
      clock.advance(1_000);
    }
    expect(log.lines).toHaveLength(3);
    expect(log.lines[2]).toContain('"failures":21');
  });

  it('an old permission is not used', async () => {
    await ask('ada');
    await fiat.setMode('no-json');
    clock.advance(20_000);
    await expect(ask('ada')).rejects.toThrow(UnavailableError);
  });

  it('an old permission is used as long as settings allow it, and Fiat is asked now and then', async () => {
    open({ staleMs: 60_000 });
    await ask('ada');
    await fiat.setMode('no-json');
    clock.advance(20_000);
    for (let request = 0; request < 10; request += 1)
      expect((await ask('ada')).accounts.get('prod')).toEqual(new Set(['READ', 'WRITE']));
    expect(fiat.calls).toHaveLength(2);
    expect(log.lines).toEqual([expect.stringContaining('former permissions are used')]);
    clock.advance(5_000);
    await ask('ada');
    expect(fiat.calls).toHaveLength(3);
    await expect(ask('eve')).rejects.toThrow(UnavailableError);
    clock.advance(55_000);
    await expect(ask('ada')).rejects.toThrow(UnavailableError);
  });

  it('a redirect is not followed', async () => {
    await using other = await startFiat({ users: { ada: { admin: true } } });
    fiat.instead = (_, response) => response.writeHead(302, { location: `${other.url}/authorize/ada` }).end();
    await expect(ask('ada')).rejects.toThrow(/: it answered 302$/);
    expect(other.calls).toEqual([]);
  });
});

describe('the plug-in', () => {
  const openPlugin = (services: JsonObject): Provider =>
    fiatPlugin.open(createTestOptions({ services: { fiat: services } }, { log }));

  it('has an authorizer only where Fiat is on', async () => {
    await using off = openPlugin({ baseUrl: fiat.url });
    await using on = openPlugin({ enabled: true, baseUrl: `${fiat.url}/base` });
    expect(off.authorizer).toBeUndefined();
    expect((await on.authorizer?.getPermission('ada', neverAborted()))?.accounts.size).toBe(1);
    expect(fiat.calls.map(({ path }) => path)).toEqual(['/base/authorize/ada']);
  });

  it('does not open on wrong settings', () => {
    expect(() => openPlugin({ enabled: true, baseUrl: 'x' })).toThrow(/^services\.fiat\.baseUrl: expected/);
  });

  it('says that it lets nobody pass by the legacy fallback', async () => {
    await using _ = openPlugin({ enabled: true, baseUrl: fiat.url, legacyFallback: true });
    expect(log.lines).toEqual([expect.stringContaining('services.fiat.legacyFallback is not obeyed')]);
  });
});
