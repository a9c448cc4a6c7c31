import { createServer, type Server } from 'node:http';

/**
 * A server that is enough of Front50 and Echo for Orca to run pipelines that nobody has stored: applications without an owner, no pipelines,
 * no plug-ins; events are taken and forgotten.
 */
export function createStubServices(): Server {
  return createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.method === 'GET' ? answer(request.url ?? '') : {}));
    });
  });
}

function answer(target: string): unknown {
  const [path = ''] = target.split('?');
  const [, name] = /^\/v2\/applications\/([^/]+)$/.exec(path) ?? [];
  if (name !== undefined) return { name, email: 'nobody@example.com' };
  if (path === '/health') return { status: 'UP' };
  // Front50's notifications of an application are an object of lists by type.
  return path.startsWith('/notifications/') ? {} : [];
}
