import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A process that answers every HTTP request with an empty list, as fast as Node can. It tells its parent its port over IPC and ends
 * with it.
 */
const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json').end('[]');
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
