import {
  type ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GoneException,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';

/** Connections of a WebSocket API of API Gateway. */
export interface GatewayConnections {
  /** Sends a text on a connection. @returns false where it is gone @throws what the call throws */
  post(id: string, text: string): Promise<boolean>;
  /** Ends a connection. One that is gone is no failure. */
  end(id: string): Promise<void>;
}

/** The connections of the API whose address the client was made with. */
export function createGatewayConnections(client: ApiGatewayManagementApiClient): GatewayConnections {
  return {
    async post(ConnectionId, text) {
      const command = new PostToConnectionCommand({ ConnectionId, Data: Buffer.from(text) });
      return client.send(command).then(() => true, refuseGone);
    },
    async end(ConnectionId) {
      await client.send(new DeleteConnectionCommand({ ConnectionId })).catch(refuseGone);
    },
  };
}

function refuseGone(error: unknown): false {
  if (error instanceof GoneException) return false;
  throw error;
}
