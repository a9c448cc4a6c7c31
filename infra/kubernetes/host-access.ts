import type { APIGatewayProxyEvent } from 'aws-lambda';
import { admit } from '#access/http/access-gate.ts';
import { AccessDeniedError } from '#core/errors.ts';
import { routes } from '#functions/routes.ts';
import type { Services } from '#platform/services/services.ts';
import type { PeerTokens } from './peers/peer-tokens.ts';

/** How long finding out who calls may take, milliseconds. */
const accessMs = 8_000;

/** A route that asks for the right to manage accounts, and has nothing in its path: who may call it may call those of operators. */
const managerRoute = routes.find(
  ({ access, path }) => typeof access === 'object' && access.manager === true && !path.includes('{'),
);

/** Decides who may call the routes of this home. */
export class HostAccess {
  readonly #tokens: Pick<PeerTokens, 'isPeer'>;
  readonly #services: Promise<Services>;

  constructor(tokens: Pick<PeerTokens, 'isPeer'>, services: Promise<Services>) {
    this.#tokens = tokens;
    this.#services = services;
  }

  /** Lets replicas in. @throws AccessDeniedError for anybody else */
  async admitPeer(event: APIGatewayProxyEvent): Promise<void> {
    if (await this.#tokens.isPeer(findAuthorization(event))) return;
    throw new AccessDeniedError('Only replicas of this Busdriver may call this');
  }

  /**
   * Lets replicas in, and who may manage accounts: by Fiat; without it everybody where the settings open it.
   *
   * @throws AccessDeniedError, UnauthenticatedError, UnavailableError
   */
  async admitOperator(event: APIGatewayProxyEvent): Promise<void> {
    if (await this.#tokens.isPeer(findAuthorization(event))) return;
    if (managerRoute === undefined) throw new AccessDeniedError('Nobody may call this');
    const services = await this.#services;
    // The rules are those of another route: the gate decides by the rows of functions, and this one has none.
    const alike = { ...event, httpMethod: managerRoute.method, resource: managerRoute.path };
    await admit(alike, { all: services, services: {}, signal: AbortSignal.timeout(accessMs) });
  }
}

function findAuthorization({ headers }: APIGatewayProxyEvent): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
}
