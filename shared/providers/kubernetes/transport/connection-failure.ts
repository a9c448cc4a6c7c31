import { AnswerLimitError } from '../api/answer-limits.ts';
import { type ExchangeError, ExchangeTimeoutError, ServerDownError, ServerSilentError } from './exchange.ts';

/** Causes that resolve themselves, and what they mean; others (certificates, unknown hosts) need someone to act. */
const transientCauses: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused; is the API server up, and is this its address?',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ETIMEDOUT: 'no connection in time; is it reachable from here?',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time; is it reachable from here?',
  EHOSTUNREACH: 'there is no route to it from here',
  ENETUNREACH: 'there is no route to it from here',
  UND_ERR_CLOSED: 'the connection was just being replaced',
  EAI_AGAIN: 'its host name could not be looked up just now',
};

const permanentCauses: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name does not exist',
  ERR_TLS_CERT_ALTNAME_INVALID:
    "its certificate is for another host name; the kubeconfig's tls-server-name can say which one to expect",
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "its certificate is not trusted; check the kubeconfig's certificate-authority-data",
  SELF_SIGNED_CERT_IN_CHAIN:
    "its certificate is not trusted; check the kubeconfig's certificate-authority-data",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "its certificate is not trusted; check the kubeconfig's certificate-authority-data",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "its certificate is not trusted; check the kubeconfig's certificate-authority-data",
};

/** True if the same connection may well succeed a moment later. */
export function isTransientFailure(cause: Error): boolean {
  return Object.hasOwn(transientCauses, getCode(cause));
}

/** Error codes of connections that we ended ourselves. */
const ownCauses: ReadonlySet<string> = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED', 'UND_ERR_ABORTED']);

/**
 * Why no connection to the server could be made, without its address: a sentence for users who may see the account. Undefined for other
 * failures: the server answered, is slow, or the connection broke later.
 */
export function findOutage({ sent, cause }: ExchangeError): string | undefined {
  if (!(cause instanceof Error) || cause instanceof AnswerLimitError || cause instanceof ServerDownError)
    return undefined;
  if (cause instanceof ServerSilentError) return cause.message;
  const code = getCode(cause);
  if (sent || cause instanceof ExchangeTimeoutError || ownCauses.has(code)) return undefined;
  const known = transientCauses[code] ?? permanentCauses[code] ?? 'no connection came about';
  return code === '' ? known : `${known} (${code})`;
}

/** What went wrong between us and the server at `origin`, and what to check. */
export function describeConnectionFailure(cause: Error, origin: string): string {
  if (cause instanceof ExchangeTimeoutError) {
    return `${cause.message} from ${origin} (kubectlRequestTimeoutSeconds sets how long to wait)`;
  }
  if (cause instanceof AnswerLimitError) return `the answer of ${origin} ${cause.message}`;
  if (cause instanceof ServerSilentError) {
    return `no answer from ${origin}: ${cause.message}; is it overloaded, or does something in between swallow requests?`;
  }
  if (cause instanceof ServerDownError) return `no answer from ${origin}: ${cause.message}`;
  const code = getCode(cause);
  const known = transientCauses[code] ?? permanentCauses[code];
  if (known !== undefined) return `no answer from ${origin}: ${known} (${code})`;
  return `no answer from ${origin}: ${cause.message}${code === '' ? '' : ` (${code})`}`;
}

function getCode(cause: Error): string {
  const code = 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : '';
}
