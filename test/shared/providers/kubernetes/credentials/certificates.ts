import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';

/** A certificate with its key, as PEM texts. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

/** What a certificate says. */
export interface CertificateSubject {
  readonly commonName: string;
  /** DNS name it is for; IPv4 addresses may be written as such. */
  readonly hosts?: readonly string[];
  /** Default: valid for a day. */
  readonly expired?: boolean;
  /** The whole name in the order of RFC 2253, of which each part has one attribute or several. Default: the common name alone. */
  readonly parts?: readonly NameAttributes[];
}

/** Values by attribute type. */
type NameAttributes = { readonly [type in keyof typeof attributeTypes]?: string };

/** Object ids by the names of attribute types. */
const attributeTypes = { CN: '550403', C: '550406', O: '55040a', OU: '55040b' };

/** A certificate authority of a test's own: no key needs to lie in the repository. */
export class CertificateAuthority {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #name: string;
  /** PEM. */
  readonly certificate: string;

  constructor(name = 'test authority') {
    this.#name = name;
    this.certificate = this.#issue({ commonName: name }, this.#keys.publicKey, [basicConstraints]);
  }

  /** A certificate signed by this authority. */
  issue(subject: CertificateSubject): Identity {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const extensions = subject.hosts === undefined ? [] : [toAlternativeNames(subject.hosts)];
    return {
      certificate: this.#issue(subject, keys.publicKey, extensions),
      key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
  }

  #issue(subject: CertificateSubject, key: KeyObject, extensions: readonly Buffer[]): string {
    const day = 86_400_000;
    const end = Date.now() + (subject.expired ? -day : day);
    const content = sequence(
      tagged(0xa0, integer(Buffer.of(2))),
      integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
      ecdsaWithSha256,
      toName([{ CN: this.#name }]),
      sequence(toTime(end - 2 * day), toTime(end)),
      toName(subject.parts ?? [{ CN: subject.commonName }]),
      key.export({ type: 'spki', format: 'der' }),
      ...(extensions.length === 0 ? [] : [tagged(0xa3, sequence(...extensions))]),
    );
    return this.#sign(content, 'CERTIFICATE');
  }

  /** A list of certificates that this authority has revoked, as PEM. @param expired whether its successor is overdue */
  revoke(certificates: readonly string[], { expired = false } = {}): string {
    const day = 86_400_000;
    const next = Date.now() + (expired ? -day : day);
    const revoked = certificates.map((certificate) => {
      const { serialNumber } = new X509Certificate(certificate);
      return sequence(integer(Buffer.from(serialNumber, 'hex')), toTime(next - 2 * day));
    });
    const content = sequence(
      integer(Buffer.of(1)),
      ecdsaWithSha256,
      toName([{ CN: this.#name }]),
      toTime(next - 2 * day),
      toTime(next),
      ...(revoked.length === 0 ? [] : [sequence(...revoked)]),
    );
    return this.#sign(content, 'X509 CRL');
  }

  #sign(content: Buffer, label: string): string {
    const signature = tagged(0x03, Buffer.of(0), sign('sha256', content, this.#keys.privateKey));
    const text = sequence(content, ecdsaWithSha256, signature).toString('base64');
    return `-----BEGIN ${label}-----\n${text.replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;
  }
}

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), body]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function integer(value: Buffer): Buffer {
  return tagged(0x02, value);
}

function objectId(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'));
}

/** A certificate has the least specific part first. */
function toName(parts: readonly NameAttributes[]): Buffer {
  return sequence(...parts.toReversed().map((part) => tagged(0x31, ...toAttributes(part))));
}

function toAttributes(part: NameAttributes): readonly Buffer[] {
  return Object.entries(part).map(([type, value]) =>
    sequence(objectId(attributeTypes[type as keyof typeof attributeTypes]), tagged(0x0c, Buffer.from(value))),
  );
}

function toTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return tagged(0x17, Buffer.from(digits.slice(2)));
}

function toAlternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    /^[\d.]+$/.test(host)
      ? tagged(0x87, Buffer.from(host.split('.').map(Number)))
      : tagged(0x82, Buffer.from(host)),
  );
  return sequence(objectId('551d11'), tagged(0x04, sequence(...names)));
}

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
/** "This is an authority", critical. */
const basicConstraints = sequence(
  objectId('551d13'),
  tagged(0x01, Buffer.of(0xff)),
  tagged(0x04, sequence(tagged(0x01, Buffer.of(0xff)))),
);
