import { makeSessionAuthorizer } from '#agents/http/session-authorizer.ts';

/** Authorizer `agent-session`: lets agents connect that show a token of a session. */
export const handler = makeSessionAuthorizer();
