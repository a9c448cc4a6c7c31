/** An API server by its address, without a kubeconfig. */
export interface ApiServer {
  /** An http or https URL; its path, if any, precedes `/api`. */
  readonly host: string;
  /** Base64 of the authorities to trust, PEM. Default: those that the system trusts. */
  readonly caData?: string | undefined;
}

/** The URL of an API server; undefined for any other text. */
export function parseServerUrl(text: string): URL | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return url.username + url.password + url.search + url.hash === '' ? url : undefined;
}

/**
 * The PEM in `ApiServer.caData`; a secret may hold PEM itself. Undefined for the authorities that the system trusts.
 *
 * @throws Error for anything but certificates.
 */
export function decodeAuthorities(caData: string | undefined): string | undefined {
  if (!caData) return undefined;
  const pem = caData.startsWith('-----') ? caData : Buffer.from(caData, 'base64').toString('utf8');
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new Error('server.caData: expected certificates in PEM, in base64');
}
