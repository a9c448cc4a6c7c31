import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';
import { CertificateAuthority } from '#test/shared/providers/kubernetes/credentials/certificates.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

/** Files of a server's TLS, and of clients'. */
export interface TlsFiles extends AsyncDisposable {
  readonly authority: CertificateAuthority;
  readonly clients: CertificateAuthority;
  readonly dir: TempDir;
  /** What `kubesvc.grpc.server.security` says of them. */
  readonly security: object;
  /** Writes the server's certificate and key anew, by whom it is signed. */
  writeServer(by: CertificateAuthority): Promise<void>;
  /** Credentials of a client that trusts the server's authority. */
  toCredentials(options?: ClientOptions): ChannelCredentials;
}

/** What a client shows. */
export interface ClientOptions {
  /** Default: nothing. */
  readonly commonName?: string;
  /** Who signs it. Default: whom the server trusts. */
  readonly by?: CertificateAuthority;
  readonly expired?: boolean;
  /** Whom it trusts. Default: who signed the server's certificate. */
  readonly trusts?: CertificateAuthority;
}

/** Makes them. */
export async function createTlsFiles(): Promise<TlsFiles> {
  const dir = await makeTempDir();
  const [authority, clients] = [new CertificateAuthority('servers'), new CertificateAuthority('clients')];
  const writeServer = async (by: CertificateAuthority): Promise<void> => {
    const { certificate, key } = by.issue({ commonName: 'busdriver', hosts: ['127.0.0.1'] });
    await writeFile(join(dir.path, 'tls.key'), key);
    await writeFile(join(dir.path, 'tls.crt'), certificate);
  };
  await writeServer(authority);
  await writeFile(join(dir.path, 'clients.crt'), clients.certificate);
  await writeFile(join(dir.path, 'ca.crt'), authority.certificate);
  return {
    ...{ dir, authority, clients, writeServer },
    security: {
      ...{ enabled: true, certificateChain: `file:${join(dir.path, 'tls.crt')}` },
      ...{ privateKey: join(dir.path, 'tls.key'), trustCertCollection: join(dir.path, 'clients.crt') },
    },
    toCredentials({ commonName, by = clients, expired = false, trusts = authority } = {}) {
      const ca = Buffer.from(trusts.certificate);
      if (commonName === undefined) return credentials.createSsl(ca);
      const { certificate, key } = by.issue({ commonName, expired });
      return credentials.createSsl(ca, Buffer.from(key), Buffer.from(certificate));
    },
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}
