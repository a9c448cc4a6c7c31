import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { createRights } from '#access/authorization.ts';
import type { UserPermission } from '#access/authorizer.ts';
import { admit } from '#access/http/access-gate.ts';
import { AccessDeniedError, InvalidInputError, UnavailableError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { type ApiFunction, apiHandler, ok } from '#http/api-handler.ts';
import { openHandler } from '#http/open-handler.ts';
import { Services } from '#platform/services/services.ts';
import { createStandingClock } from '#test/support/run/test-clock.ts';
import { readManifest } from '#views/http/manifest-request.ts';

const logged: string[] = [];
const note = (message: string): void => void logged.push(message);
const log: Logger = { debug: note, info: note, warn: note, error: note };

beforeEach(() => void logged.splice(0));

interface Given {
  readonly permissions?: { readonly [account: string]: readonly ('READ' | 'WRITE')[] };
  /** Default: Fiat is not asked. */
  readonly fiat?: 'up' | 'away';
  readonly settings?: JsonObject;
}

/** What a function has opened: two accounts, of which `gated` is restricted. */
function createServices({ fiat, settings = {}, permissions = {} }: Given) {
  const authorizer = fiat && {
    async getPermission(user: string | undefined): Promise<UserPermission> {
      if (fiat === 'away') throw new UnavailableError('Fiat cannot be asked');
      const accounts = new Map(Object.entries(permissions).map(([name, held]) => [name, new Set(held)]));
      return {
        user: user ?? 'anonymous',
        isAdmin: false,
        isAccountManager: user === 'manager',
        roles: new Set(),
        accounts,
        applications: new Map(),
        allowAccessToUnknownApplications: true,
      };
    },
  };
  const accounts = new Map([
    ['open', {}],
    ['gated', { permissions: { WRITE: ['x'] } }],
  ]);
  const providers = { findAccount: (name: string) => accounts.get(name), findAuthorizer: () => authorizer };
  return { providers, settings, clock: createStandingClock(), log };
}

function toEvent(resource: string, more: object = {}): APIGatewayProxyEvent {
  const headers = { 'X-SPINNAKER-USER': 'ada' };
  return { httpMethod: 'GET', resource, headers, ...more } as unknown as APIGatewayProxyEvent;
}

const signal = new AbortController().signal;

function ask(given: Given, event: APIGatewayProxyEvent) {
  return admit(event, { all: new Services({}), services: createServices(given), signal });
}

async function run(handler: ApiFunction, event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> {
  const lambda = { functionName: 'f', awsRequestId: 'r', getRemainingTimeInMillis: () => 20_000 };
  const call = handler as (event: APIGatewayProxyEvent, lambda: Context) => Promise<APIGatewayProxyResult>;
  return call(event, lambda as unknown as Context);
}

describe('a route without a row', () => {
  it.each([apiHandler, openHandler])('answers 500 and runs nothing', async (make) => {
    let isRun = false;
    const handler = make(
      () => ({ log }),
      async () => {
        isRun = true;
        return ok({});
      },
    );
    const { statusCode, body } = await run(handler, toEvent('/forgotten'));

    expect([statusCode, isRun]).toEqual([500, false]);
    expect(body).not.toContain('/forgotten');
    expect(logged).toContain('request failed');
  });
});

describe('a function that is open', () => {
  it('answers nobody where its row asks for rights', async () => {
    let isRun = false;
    const handler = openHandler(
      () => ({ log }),
      async () => {
        isRun = true;
        return ok({});
      },
    );
    expect((await run(handler, toEvent('/task/{id}'))).statusCode).toBe(500);
    expect(isRun).toBe(false);
    expect((await run(handler, toEvent('/health'))).statusCode).toBe(200);
  });
});

describe('while Fiat is away', () => {
  it('a route that asks for rights is closed', async () => {
    await expect(ask({ fiat: 'away' }, toEvent('/search'))).rejects.toThrow(UnavailableError);
  });

  it.each(['/applications', '/{cloudProvider}/images/find', '/{cloudProvider}/charts/tags'])(
    '%s, which is everybody’s, is closed to who says who he is',
    async (path) => {
      await expect(ask({ fiat: 'away' }, toEvent(path))).rejects.toThrow(UnavailableError);
    },
  );

  it('a list that is everybody’s is open to who does not, until it matters what he may do', async () => {
    const access = await ask({ fiat: 'away' }, toEvent('/applications', { headers: {} }));
    expect(access.rights.mayUseAccount('open', 'READ')).toBe(false);
    expect(access.rights.mayUseApplication('any', 'READ')).toBe(false);
    await expect(access.loadRights()).rejects.toThrow(UnavailableError);
    await expect(access.openAccountFilter()).rejects.toThrow(UnavailableError);
  });

  it('no list is open while the settings do not say how callers prove who they are', async () => {
    const settings = { busdriver: { identity: 'sigend' } };
    await expect(ask({ fiat: 'up', settings }, toEvent('/applications'))).rejects.toThrow(InvalidInputError);
  });

  it('a route that asks nothing does not ask Fiat', async () => {
    await expect(ask({ fiat: 'away' }, toEvent('/health'))).resolves.toBeDefined();
  });
});

describe('who does not say who he is', () => {
  it('has the rights that Fiat gives to everybody', async () => {
    const given = { fiat: 'up', permissions: { gated: ['READ'] } } as const;
    const { openAccountFilter } = await ask(given, toEvent('/applications', { headers: {} }));
    const mayShow = await openAccountFilter();
    expect([mayShow('gated'), mayShow('open')]).toEqual([true, false]);
  });
});

describe('the filter of accounts', () => {
  it('is there for no route whose row does not say so', async () => {
    const { openAccountFilter } = await ask({}, toEvent('/task/{id}'));
    await expect(openAccountFilter()).rejects.toThrow(
      'the row of GET /task/{id} does not say that accounts are filtered',
    );
  });
});

describe('a path', () => {
  it('is refused by account, in Clouddriver’s words, and by who calls', async () => {
    const seen: (string | undefined)[] = [];
    const event = toEvent('/securityGroups/{account}', { pathParameters: { account: 'gated' } });
    const asked = admit(event, {
      all: new Services({}),
      services: createServices({ fiat: 'up', permissions: { open: ['READ'] } }),
      signal,
      onIdentified: ({ user }) => seen.push(user),
    });
    await expect(asked).rejects.toThrow(
      new AccessDeniedError('Access denied to account gated - required authorization: READ'),
    );
    expect(seen).toEqual(['ada']);
  });

  it('of an account that is not configured is the function’s 404', async () => {
    const event = toEvent('/securityGroups/{account}', { pathParameters: { account: 'none' } });
    await expect(ask({}, event)).resolves.toBeDefined();
  });
});

describe('managers of accounts', () => {
  it.each([
    ['manager', true],
    ['ada', false],
  ])('%s: %s', async (user, isManager) => {
    const event = toEvent('/search', { headers: { 'X-SPINNAKER-USER': user } });
    const { rights } = await ask({ fiat: 'up' }, event);
    expect(rights.isManager).toBe(isManager);
  });

  it('are nobody without Fiat', async () => {
    expect((await ask({}, toEvent('/search'))).rights.isManager).toBe(false);
  });
});

describe('what a Secret holds', () => {
  it.each([
    { held: ['READ'], areReadsChecked: true, revealSecrets: false, values: 'masked' },
    { held: ['READ', 'WRITE'], areReadsChecked: true, revealSecrets: true, values: 'shown' },
    { held: [], areReadsChecked: false, revealSecrets: false, values: 'masked' },
  ] as const)('is $values for $held, reads checked: $areReadsChecked', async (given) => {
    const { held, areReadsChecked, revealSecrets, values } = given;
    const asked: unknown[] = [];
    const audited: unknown[] = [];
    const reader = {
      isSecret: () => true,
      async getManifest(request: object) {
        asked.push(request);
        return {};
      },
    };
    const rights = createRights({
      findAccount: () => ({ permissions: { WRITE: ['x'] } }),
      permission: {
        user: 'ada',
        isAdmin: false,
        isAccountManager: false,
        roles: new Set(),
        accounts: new Map([['gated', new Set(held)]]),
        applications: new Map(),
        allowAccessToUnknownApplications: true,
      },
      allowedAccounts: undefined,
      areReadsChecked,
    });
    const request = {
      getParameter: () => 'gated',
      findHeader: () => undefined,
      getFlag: () => true,
      access: { rights, checkResult: () => undefined },
      audit: (act: object) => audited.push(act),
    };
    const context = { providers: { getLiveReader: async () => reader, findAccount: () => undefined } };
    const target = { location: 'default', name: 'secret code' };
    await readManifest(
      request as unknown as Parameters<typeof readManifest>[0],
      context as unknown as Parameters<typeof readManifest>[1],
      target,
    );

    expect(asked).toMatchObject([{ ...target, account: 'gated', revealSecrets }]);
    expect(audited).toEqual([{ action: 'readSecret', account: 'gated', ...target, values }]);
  });
});
