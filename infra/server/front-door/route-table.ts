import type { Route } from '#functions/routes.ts';

/** The route of a request, with its decoded path parameters. */
export interface RouteMatch {
  readonly route: Route;
  readonly pathParameters: { readonly [name: string]: string };
}

/** What a path leads to. */
export type PathMatch =
  /** A route for this method. */
  | RouteMatch
  /** Routes for other methods only, at least one. */
  | { readonly allowedMethods: readonly string[] }
  /** Nothing. */
  | undefined;

interface Node {
  readonly children: Map<string, Node>;
  variable: Node | undefined;
  /** Routes that end here, by method. */
  readonly routes: Map<string, Route>;
}

/** Finds routes as API Gateway does: a literal segment wins over a variable, segment by segment from the left. */
export class RouteTable {
  readonly #root = makeNode();

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route);
  }

  /**
   * Finds the route of a method and of decoded segments. Where the path of a literal ends in nothing, the variable
   * beside it is tried. HEAD is served by the route of GET.
   */
  find(method: string, segments: readonly string[]): PathMatch {
    const routes = findNode(this.#root, segments)?.routes;
    if (routes === undefined) return undefined;
    const route = routes.get(method === 'HEAD' ? 'GET' : method);
    if (route !== undefined) return { route, pathParameters: toParameters(route, segments) };
    const methods = [...routes.keys()];
    return { allowedMethods: methods.includes('GET') ? ['HEAD', ...methods].sort() : methods.sort() };
  }

  #add(route: Route): void {
    let node = this.#root;
    for (const segment of splitTemplate(route.path)) node = getChild(node, segment);
    node.routes.set(route.method, route);
  }
}

function findNode(node: Node, segments: readonly string[]): Node | undefined {
  const [first, ...rest] = segments;
  if (first === undefined) return node.routes.size > 0 ? node : undefined;
  const literal = node.children.get(first);
  const found = literal && findNode(literal, rest);
  if (found !== undefined) return found;
  return node.variable && first !== '' ? findNode(node.variable, rest) : undefined;
}

function getChild(node: Node, segment: string): Node {
  if (isVariable(segment)) {
    node.variable ??= makeNode();
    return node.variable;
  }
  const child = node.children.get(segment) ?? makeNode();
  node.children.set(segment, child);
  return child;
}

function toParameters(route: Route, segments: readonly string[]): { [name: string]: string } {
  const parameters: { [name: string]: string } = {};
  for (const [index, segment] of splitTemplate(route.path).entries()) {
    if (isVariable(segment)) parameters[segment.slice(1, -1)] = segments[index] ?? '';
  }
  return parameters;
}

function splitTemplate(path: string): readonly string[] {
  return path.split('/').slice(1);
}

function isVariable(segment: string): boolean {
  return segment.startsWith('{');
}

function makeNode(): Node {
  return { children: new Map(), variable: undefined, routes: new Map() };
}
