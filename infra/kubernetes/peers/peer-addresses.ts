import { isIP } from 'node:net';
import { asJsonArray, asString, getPath, type JsonValue } from '#core/json.ts';
import { getBuiltInResource } from '#providers/kubernetes/api/built-in-resources.ts';
import type { ApiResource } from '#providers/kubernetes/api/client.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';

/** A replica of Busdriver, as `GET /armory/clouddrivers` shows it. */
export interface Peer {
  /** Such as `http://10.0.15.246:7002`. */
  readonly baseUrl: string;
  /** Name of its pod; its address where the entry names no pod. */
  readonly id: string;
  /** When this entry last changed here: ISO 8601. */
  readonly lastUpdated: string;
  /** Whether its pod is ready, as `kubectl get pods` says. */
  readonly ready: boolean;
}

/** What an address in the cluster says of a peer. */
export type PeerAddress = Omit<Peer, 'lastUpdated'>;

/** Which entries are replicas of Busdriver. */
export interface PeerFilter {
  /** What the name of their Service begins with. */
  readonly namePrefix: string;
  /** Name of their port for REST. */
  readonly portName: string;
}

/** Addresses of one object that are taken; the control plane itself cuts Endpoints at 1,000. */
const addressesMax = 1_000;

/** Where addresses of Services are. */
export type PeerApi = 'endpoints' | 'endpointslices';

/** The resources that peers are read from. */
export const peerResources: { readonly [api in PeerApi]: ApiResource } = {
  endpoints: getBuiltInResource('v1', 'Endpoints'),
  endpointslices: getBuiltInResource('discovery.k8s.io/v1', 'EndpointSlice'),
};

/**
 * The peers that an object of Endpoints or EndpointSlice names: none where its Service has another name, or no port is named so. An
 * address that is no IP is left out.
 */
export function readPeerAddresses(
  api: PeerApi,
  object: Manifest,
  filter: PeerFilter,
): readonly PeerAddress[] {
  if (!getServiceName(api, object).startsWith(filter.namePrefix)) return [];
  const found = api === 'endpoints' ? readSubsets(object, filter) : readSlice(object, filter);
  return found.slice(0, addressesMax);
}

/** Endpoints have the name of their Service; slices have it in a label. */
function getServiceName(api: PeerApi, object: Manifest): string {
  const name =
    api === 'endpoints'
      ? getPath(object, 'metadata', 'name')
      : getPath(object, 'metadata', 'labels', 'kubernetes.io/service-name');
  return asString(name) ?? '';
}

function readSubsets(object: Manifest, { portName }: PeerFilter): PeerAddress[] {
  return asJsonArray(object['subsets']).flatMap((subset) => {
    const port = findPort(getPath(subset, 'ports'), portName);
    if (port === undefined) return [];
    const read = (list: string, ready: boolean) =>
      asJsonArray(getPath(subset, list)).flatMap((each) =>
        toPeerAddress(asString(getPath(each, 'ip')), { port, ready, target: getPath(each, 'targetRef') }),
      );
    return [...read('addresses', true), ...read('notReadyAddresses', false)];
  });
}

function readSlice(object: Manifest, { portName }: PeerFilter): PeerAddress[] {
  const port = findPort(object['ports'], portName);
  if (port === undefined) return [];
  return asJsonArray(object['endpoints']).flatMap((each) => {
    // "A nil value should be interpreted as true", says the API.
    const ready = getPath(each, 'conditions', 'ready') !== false;
    const [address] = asJsonArray(getPath(each, 'addresses'));
    return toPeerAddress(asString(address), { port, ready, target: getPath(each, 'targetRef') });
  });
}

function findPort(ports: JsonValue | undefined, name: string): number | undefined {
  const found = asJsonArray(ports).find((port) => getPath(port, 'name') === name);
  const port = getPath(found, 'port');
  return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

interface AddressParts {
  readonly port: number;
  readonly ready: boolean;
  readonly target: JsonValue | undefined;
}

function toPeerAddress(ip: string | undefined, { port, ready, target }: AddressParts): PeerAddress[] {
  if (ip === undefined || isIP(ip) === 0) return [];
  const host = isIP(ip) === 6 ? `[${ip}]` : ip;
  return [{ baseUrl: `http://${host}:${port}`, id: asString(getPath(target, 'name')) || ip, ready }];
}
