import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';

/** Of which object a version is pretended. */
export interface PretendedVersion {
  /** Spinnaker's name of its kind. */
  readonly kind: string;
  readonly name: string;
  /** A number that no other row has. */
  readonly number: number;
}

/** An object that is no version of another, whatever its annotations say. */
export interface HostileRecord {
  readonly what: string;
  /** The object's own name. Default: that of the version. */
  readonly object?: (of: PretendedVersion) => string;
  /** In place of an honest record. Null leaves out. */
  readonly record?: (of: PretendedVersion) => { readonly [part in RecordPart]?: string | null };
}

type RecordPart = 'type' | 'name' | 'location' | 'version';

const long = 200_000;

/** Names that are not those of the recorded version. */
const misnamed: readonly HostileRecord[] = [
  { what: 'a copy under another name', object: ({ name }) => `${name}-backup` },
  { what: 'a copy under the name itself', object: ({ name }) => name },
  { what: 'a copy under a longer name', object: (of) => `${format(of)}-copy` },
  { what: 'a copy by the name of a later number', object: ({ name, number }) => `${name}-v${number + 500}` },
  { what: 'a copy without a hyphen', object: ({ name }) => `${name}.v001` },
  { what: 'versions of versions', object: (of) => `${format(of)}-v001`, record: () => ({ version: 'v001' }) },
  { what: 'too many digits', ...write('v0010') },
  { what: 'too few digits', ...write('v7') },
  { what: 'two digits', ...write('v00') },
  { what: 'a minus', ...write('v-1') },
  { what: 'a fraction', ...write('v1.5') },
  { what: 'a power of ten', ...write('v1e3') },
  { what: 'a hexadecimal number', ...write('v0x10') },
  { what: 'no number', ...write('v') },
  { what: 'ten digits', ...write('v1000000000') },
  { what: 'a number beyond those of doubles', ...write(`v${'9'.repeat(30)}`) },
];

/** Records of versions that are none. */
const misnumbered: readonly HostileRecord[] = [
  { what: 'no version', record: () => ({ version: null }) },
  { what: 'an empty version', record: () => ({ version: '' }) },
  { what: 'a plus', record: ({ number }) => ({ version: `v+${number}` }) },
  { what: 'a capital letter', record: ({ number }) => ({ version: `V${number}` }) },
  { what: 'a blank before', record: ({ number }) => ({ version: ` v${number}` }) },
  { what: 'a line after', record: ({ number }) => ({ version: `v${number}\n` }) },
  { what: 'digits of another script', record: () => ({ version: 'v\u0660\u0661\u0662' }) },
  { what: 'text that is half quoted', record: ({ number }) => ({ version: `"v${number}` }) },
  { what: 'quoted text that is none', record: () => ({ version: `"${'['.repeat(long)}"` }) },
  { what: 'a number of 200 KB', record: () => ({ version: `v${'9'.repeat(long)}` }) },
];

/** Records of other kinds, and of none. */
const mistyped: readonly HostileRecord[] = [
  { what: 'no type', record: () => ({ type: null }) },
  { what: 'an empty type', record: () => ({ type: '' }) },
  { what: 'another kind', record: () => ({ type: 'kubernetes/secret' }) },
  { what: 'no kind', record: () => ({ type: 'kubernetes/' }) },
  { what: 'the kind of nothing', record: () => ({ type: 'kubernetes/none' }) },
  { what: 'no prefix', record: ({ kind }) => ({ type: kind }) },
  { what: 'another provider', record: ({ kind }) => ({ type: `docker/${kind}` }) },
  { what: 'another group', record: ({ kind }) => ({ type: `kubernetes/${kind}.example.com` }) },
  { what: 'a subresource', record: ({ kind }) => ({ type: `kubernetes/${kind}/status` }) },
  { what: 'a type of 200 KB', record: ({ kind }) => ({ type: `kubernetes/${kind.repeat(long / 10)}` }) },
];

/** Records of other names. */
const others: readonly HostileRecord[] = [
  { what: 'no name', record: () => ({ name: null }) },
  { what: 'an empty name', record: () => ({ name: '' }) },
  { what: 'another case', record: ({ name }) => ({ name: name.toUpperCase() }) },
  { what: 'a blank', record: ({ name }) => ({ name: `${name} ` }) },
  { what: 'a full name', record: ({ kind, name }) => ({ name: `${kind} ${name}` }) },
  { what: 'a path', record: ({ name }) => ({ name: `../${name}`, location: '../kube-system' }) },
  { what: 'the name of all objects', record: () => ({ name: '__proto__' }) },
  { what: 'a name of 200 KB', record: ({ name }) => ({ name: name.repeat(long / name.length) }) },
];

/** Each is none in any place. */
export const hostileRecords: readonly HostileRecord[] = [...misnamed, ...misnumbered, ...mistyped, ...others];

/** The annotations of a version that an honest deploy made. */
function createRecord(of: PretendedVersion): { readonly [part in RecordPart]: string } {
  const version = `v${String(of.number).padStart(3, '0')}`;
  return { type: `kubernetes/${of.kind}`, name: of.name, location: 'elsewhere', version };
}

/** The object of a row, with other members and annotations as given. */
export function createHostile(
  { object = format, record }: HostileRecord,
  of: PretendedVersion,
  like: Manifest,
): Manifest {
  const parts = { ...createRecord(of), ...record?.(of) };
  const marks = Object.entries(parts).filter(([, text]) => text !== null);
  const annotations = {
    ...((like.metadata as JsonObject)['annotations'] as JsonObject | undefined),
    ...Object.fromEntries(marks.map(([part, text]) => [`artifact.spinnaker.io/${part}`, text])),
  } as JsonObject;
  return { ...like, metadata: { ...(like.metadata as JsonObject), name: object(of), annotations } };
}

function format({ name, number }: PretendedVersion): string {
  return `${name}-v${String(number).padStart(3, '0')}`;
}

/** Named and recorded alike. */
function write(version: string): Pick<HostileRecord, 'object' | 'record'> {
  return { object: ({ name }) => `${name}-${version}`, record: () => ({ version }) };
}
