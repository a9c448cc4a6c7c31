import { type Answer, answerJson, answerStatus } from '../client/scripted-server.ts';
import { answerStream, toErrorLine, toLine } from '../watch/watch-setup.ts';

/** What a scripted API server has: objects of each kind in the namespace `shop`, by name, with their resource versions. */
export interface World {
  uid: string | undefined;
  /** The newest resource version. */
  now: number;
  readonly objects: Map<string, number>;
  /** Whether watches are answered that their resource version has expired; else they tell how far the server has come. */
  isExpired: boolean;
  /** Whether watches tell nothing, and last as long as they were asked for. */
  isSilent: boolean;
  /** Objects of a page. */
  pageSize: number;
  /** Called when a page of a list is asked for; the status of the answer unless it is the page. */
  onList: (page: number) => number | undefined;
}

/** A world with one object of each kind. */
export function createWorld(): World {
  return {
    uid: 'cluster-1',
    now: 10,
    objects: new Map([['one', 5]]),
    isExpired: false,
    isSilent: false,
    pageSize: 500,
    onList: () => undefined,
  };
}

/** Answers as an API server would that has no more than this. @param path with the query */
export function answerAs(world: World, path: string): Answer {
  const { pathname, searchParams } = new URL(path, 'http://x');
  if (pathname === '/api/v1/namespaces/kube-system') {
    if (world.uid === undefined) return answerStatus(403, 'Forbidden');
    return answerJson(200, { kind: 'Namespace', metadata: { name: 'kube-system', uid: world.uid } });
  }
  if (searchParams.has('watch')) {
    if (world.isSilent) return answerSilence(Number(searchParams.get('timeoutSeconds')));
    const from = Number(searchParams.get('resourceVersion'));
    const later = [...world.objects].filter(([, revision]) => revision > from);
    const told = later.map((each) => {
      const object = { apiVersion: 'v1', kind: findKind(pathname), ...toObject(each) };
      return `${JSON.stringify({ type: 'MODIFIED', object })}\n`;
    });
    const bookmark = toLine('BOOKMARK', `@${world.now}`);
    return answerStream(...(world.isExpired ? [toErrorLine(410, 'Expired')] : [...told, bookmark]));
  }
  const resourceVersion = String(world.now);
  if (searchParams.get('limit') === '1') return answerJson(200, { metadata: { resourceVersion }, items: [] });
  const page = Number(searchParams.get('continue') ?? 0);
  const refusal = world.onList(page);
  if (refusal !== undefined) return answerStatus(refusal, 'Refused');
  const end = (page + 1) * world.pageSize;
  const items = [...world.objects].slice(page * world.pageSize, end).map(toObject);
  const more = end < world.objects.size && { continue: String(page + 1) };
  return answerJson(200, { metadata: { resourceVersion: String(world.now), ...more }, items });
}

const kinds = ['ConfigMap', 'Service', 'Pod', 'Job'];

function findKind(path: string): string {
  return kinds.find((kind) => path.endsWith(`/${kind.toLowerCase()}s`)) ?? '';
}

function toObject([name, revision]: [string, number]): object {
  return { metadata: { name, namespace: 'shop', uid: name, resourceVersion: String(revision) } };
}

function answerSilence(seconds: number): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    setTimeout(() => response.end(), seconds * 1000);
  };
}
