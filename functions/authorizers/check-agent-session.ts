import { makeSessionAuthorizer } from '../../shared/runtime/http/session-authorizer.ts';

/** Authorizer `agent-session`: lets agents connect that show a token of a session. */
export const handler = makeSessionAuthorizer();
