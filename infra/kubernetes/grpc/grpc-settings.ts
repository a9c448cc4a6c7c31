import { parseSubjectName, type SubjectName } from '#access/identity/subject-name.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  booleanField,
  enumField,
  type Field,
  intField,
  parseWith,
  stringField,
  stringListField,
  withDefault,
} from '#settings/coerce.ts';
import { getSetting } from '#settings/spring-config.ts';

/** Where Spinnaker's configuration says how gRPC is served; the names are those of Armory's plug-in, which has no list of revoked certificates. */
export const grpcSettingPaths = {
  enabled: 'kubesvc.grpc.server.enabled',
  address: 'kubesvc.grpc.server.address',
  port: 'kubesvc.grpc.server.port',
  maxInboundMessageSize: 'kubesvc.grpc.server.maxInboundMessageSize',
  securityEnabled: 'kubesvc.grpc.server.security.enabled',
  certificateChain: 'kubesvc.grpc.server.security.certificateChain',
  privateKey: 'kubesvc.grpc.server.security.privateKey',
  trustCertCollection: 'kubesvc.grpc.server.security.trustCertCollection',
  certificateRevocationList: 'kubesvc.grpc.server.security.certificateRevocationList',
  clientAuth: 'kubesvc.grpc.server.security.clientAuth',
  x509Enabled: 'kubesvc.grpc.auth.x509.enabled',
  x509Filters: 'kubesvc.grpc.auth.x509.filters',
} as const;

/** Bytes that a message may have: a commit of a task has 1 MiB, and a few more. */
const messageBytes = { min: 2 << 20, max: 16 << 20, usual: 4 << 20 };

/** Filters that are compared with each call's certificate. */
const filtersMax = 500;

/** Whether a client shows a certificate: `none` is asked for one, `optional` must be signed by a trusted one if shown. */
export type ClientAuth = 'none' | 'optional' | 'require';

/** Files of TLS, PEM each. */
export interface GrpcSecurity {
  readonly certificateChain: string;
  readonly privateKey: string;
  /** Certificates that sign those of clients. */
  readonly trustCertCollection: string | undefined;
  /** Lists of certificates that those have revoked, one of each (RFC 5280, section 5); undefined where none is looked at. */
  readonly certificateRevocationList: string | undefined;
  readonly clientAuth: ClientAuth;
}

/** How gRPC is served. */
export interface GrpcSettings {
  /** Name or address to bind; `*` is every address. */
  readonly address: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly maxInboundBytes: number;
  /** Undefined without TLS. */
  readonly security: GrpcSecurity | undefined;
  /** Of which one must match a client's certificate; undefined where none is asked for. */
  readonly subjectFilters: readonly SubjectName[] | undefined;
}

type Read = <T>(path: string, field: Field<T>) => T;

/**
 * How gRPC is served; undefined where `kubesvc.grpc.server.enabled` is false.
 *
 * @throws InvalidInputError that names the setting and what it takes
 */
export function parseGrpcSettings(settings: JsonObject): GrpcSettings | undefined {
  const read: Read = (path, field) => parseWith(field, getSetting(settings, path), path);
  if (!read(grpcSettingPaths.enabled, withDefault(booleanField(), true))) return undefined;
  const security = parseSecurity(read);
  return {
    address: parseAddress(read),
    port: read(grpcSettingPaths.port, withDefault(intField({ min: 0, max: 65_535 }), 9091)),
    maxInboundBytes: parseSize(read),
    security,
    subjectFilters: parseFilters(read, security),
  };
}

function parseAddress(read: Read): string {
  const path = grpcSettingPaths.address;
  const address = read(path, withDefault(stringField(), '*')).trim();
  if (address === '*' || address === '') return '::';
  if (/^[\w.:[\]-]{1,253}$/.test(address)) return address;
  throw new InvalidInputError(`${path}: expected an address or a name, such as 127.0.0.1, or *`);
}

const units: { readonly [unit: string]: number } = { '': 1, b: 1, kb: 1 << 10, mb: 1 << 20 };

/** As Spring has sizes: `4MB`, `4194304B`, or bytes. */
function parseSize(read: Read): number {
  const path = grpcSettingPaths.maxInboundMessageSize;
  const text = read(path, withDefault(stringField(), String(messageBytes.usual)));
  const [, digits = '', unit = ''] = /^\s{0,9}(\d{1,9}) ?(b|kb|mb|)\s{0,9}$/i.exec(text) ?? [];
  const bytes = digits === '' ? Number.NaN : Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN);
  if (bytes >= messageBytes.min && bytes <= messageBytes.max) return bytes;
  throw new InvalidInputError(`${path}: expected a size from 2MB to 16MB, such as 4MB`);
}

function parseSecurity(read: Read): GrpcSecurity | undefined {
  if (!read(grpcSettingPaths.securityEnabled, withDefault(booleanField(), false))) return undefined;
  const clientAuth = parseClientAuth(read);
  const trustCertCollection = findFile(read, grpcSettingPaths.trustCertCollection);
  if (clientAuth !== 'none' && trustCertCollection === undefined) {
    const wanted = `${grpcSettingPaths.clientAuth} is ${clientAuth}`;
    throw new InvalidInputError(
      `${grpcSettingPaths.trustCertCollection}: expected a file of certificates, because ${wanted}`,
    );
  }
  const certificateRevocationList = findFile(read, grpcSettingPaths.certificateRevocationList);
  if (clientAuth === 'none' && certificateRevocationList !== undefined) {
    throw new InvalidInputError(
      `${grpcSettingPaths.certificateRevocationList}: expected ${grpcSettingPaths.clientAuth} to be optional or require`,
    );
  }
  return {
    certificateChain: getFile(read, grpcSettingPaths.certificateChain),
    privateKey: getFile(read, grpcSettingPaths.privateKey),
    trustCertCollection,
    certificateRevocationList,
    clientAuth,
  };
}

function parseClientAuth(read: Read): ClientAuth {
  const path = grpcSettingPaths.clientAuth;
  const text = read(path, withDefault(stringField(), 'none')).toLowerCase();
  return parseWith(withDefault(enumField(['none', 'optional', 'require']), 'none'), text, path);
}

function getFile(read: Read, path: string): string {
  const file = findFile(read, path);
  if (file !== undefined) return file;
  throw new InvalidInputError(
    `${path}: expected a file, because ${grpcSettingPaths.securityEnabled} is true`,
  );
}

/** Spring names files by URLs: `file:/path`. */
function findFile(read: Read, path: string): string | undefined {
  const text = read(path, withDefault(stringField(), '')).replace(/^file:(\/\/(?=\/))?/, '');
  if (text.startsWith('classpath:')) throw new InvalidInputError(`${path}: expected a file, got a classpath`);
  return text === '' ? undefined : text;
}

function parseFilters(read: Read, security: GrpcSecurity | undefined): readonly SubjectName[] | undefined {
  if (!read(grpcSettingPaths.x509Enabled, withDefault(booleanField(), false))) return undefined;
  const { x509Enabled, x509Filters, clientAuth } = grpcSettingPaths;
  if (security === undefined || security.clientAuth === 'none')
    throw new InvalidInputError(`${x509Enabled}: expected ${clientAuth} to be optional or require`);
  const texts = read(x509Filters, withDefault(stringListField({ itemsMax: filtersMax }), []));
  if (texts.length === 0) throw new InvalidInputError(`${x509Filters}: expected a subject, got none`);
  return texts.map((text, index) => {
    const subject = parseSubjectName(text);
    if (subject !== undefined) return subject;
    throw new InvalidInputError(
      `${x509Filters}[${index}]: expected parts of a subject, such as CN=edge-7,O=Acme`,
    );
  });
}
