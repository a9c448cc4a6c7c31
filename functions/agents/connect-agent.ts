import { connectAgent, connectionHandler } from '#agents/http/agent-connection.ts';

/** Route `$connect` of the WebSocket API: an agent, whose token was looked at, connects to hear of work. */
export const handler = connectionHandler(connectAgent);
