import { X509Certificate } from 'node:crypto';

/** The subject and the validity of a certificate. */
export interface ClientCertificate {
  /** Distinguished name as RFC 2253 writes it, the most specific part first: `CN=edge-7,O=Acme`. */
  readonly subject: string;
  /** When it is valid, milliseconds since the epoch, both inclusive. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Reads a certificate. TLS has already verified its signature and that its owner has the key.
 *
 * @param pem as API Gateway puts it into an event: its other forms of a subject differ from place to place
 * @returns undefined for anything else
 */
export function readClientCertificate(pem: string): ClientCertificate | undefined {
  try {
    const { subject, validFrom, validTo } = new X509Certificate(pem);
    return {
      subject: toDistinguishedName(subject),
      fromMs: Date.parse(validFrom),
      untilMs: Date.parse(validTo),
    };
  } catch {
    return undefined;
  }
}

/** A distinguished name in Node's form: one attribute a line, the least specific first, with special characters escaped in each. */
export function toDistinguishedName(lines: string | undefined): string {
  return (lines ?? '').split('\n').reverse().join(',');
}
