import { X509Certificate } from 'node:crypto';

/** What a certificate says of whom it is for, and when. */
export interface ClientCertificate {
  /** Distinguished name as RFC 2253 writes it, the most specific part first: `CN=edge-7,O=Acme`. */
  readonly subject: string;
  /** From when until when it holds, milliseconds since the epoch, both inclusive. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Reads a certificate. Whether somebody trusted signed it, and whether its owner showed it, TLS has found out before.
 *
 * @param pem as API Gateway puts it into an event: other forms of a subject that it tells differ from place to place
 * @returns undefined for what is none
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

/** A distinguished name of Node's, which is in lines, the least specific first, with what is special escaped in each. */
export function toDistinguishedName(lines: string | undefined): string {
  return (lines ?? '').split('\n').reverse().join(',');
}
