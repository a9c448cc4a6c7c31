import { connectionHandler, disconnectAgent } from '#agents/http/agent-connection.ts';

/** Route `$disconnect` of the WebSocket API: the connection of an agent has ended. */
export const handler = connectionHandler(disconnectAgent);
