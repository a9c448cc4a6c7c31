import type { Services } from '#platform/services/services.ts';

/** Finds whose session the header `Authorization` of a request shows, where that was proved before. */
export type FindAgent = (authorization: string | undefined) => Promise<string | undefined>;

/**
 * Tells agents apart by their sessions, also those behind one address. Nothing is verified here: a token counts once a function has found
 * it good, so that strangers cannot pass for many.
 */
export function createAgentFinder(services: Services): FindAgent {
  return async (authorization) => {
    const [, token] = /^Bearer (\S+)$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) return undefined;
    // Loaded with the first agent: most have none.
    const { openSessionTokens } = await import('#agents/services/session-tokens.ts');
    return openSessionTokens(services)?.findVerified(token);
  };
}
