import { getErrorMessage } from '#core/errors.ts';

/** What a call to AWS was for, in an error's words. */
export interface AwsCall {
  /** `cannot assume the role …`: prefix of the message. */
  readonly what: string;
  /** What to do when AWS denies it. */
  readonly whenDenied: string;
  /** What to do when AWS does not know it. */
  readonly whenMissing?: string | undefined;
}

const longestMessage = 400;
const badCredentials =
  'the credentials of this process are no good: renew them, or look at AWS_PROFILE and the role of the function';
const unreachable = 'is the service reachable from here, by a VPC endpoint or a NAT gateway?';

/**
 * Where messages of AWS and its SDK begin to quote what was sent or run: a signed request, a token, the command of `credential_process`
 * with its arguments and all its output.
 */
const quoting =
  /(?:authorization|credential|signature|x-amz-[a-z-]{1,40}|(?:session|security)-?token|secret-?access-?key)["']? ?[=:]|command failed:/i;

/** What to do, by the error's code. */
const advice: Readonly<Record<string, keyof AwsCall | { readonly text: string }>> = {
  AccessDenied: 'whenDenied',
  AccessDeniedException: 'whenDenied',
  ResourceNotFoundException: 'whenMissing',
  NoSuchBucket: 'whenMissing',
  NoSuchKey: 'whenMissing',
  ParameterNotFound: 'whenMissing',
  ExpiredToken: { text: badCredentials },
  ExpiredTokenException: { text: badCredentials },
  InvalidClientTokenId: { text: badCredentials },
  UnrecognizedClientException: { text: badCredentials },
  SignatureDoesNotMatch: { text: badCredentials },
  InvalidSignatureException: { text: badCredentials },
  CredentialsProviderError: {
    text: 'give this process a role, or locally AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  },
  TimeoutError: { text: unreachable },
  ECONNREFUSED: { text: unreachable },
  ENOTFOUND: { text: unreachable },
};

/** The error of a call as one sentence: what it was for, what AWS said, and what to do. */
export function toAwsFailure(error: unknown, call: AwsCall): Error {
  const code = getCode(error);
  // Further lines may hold the request that was signed, and with it a session token.
  const [line = ''] = getErrorMessage(error).slice(0, longestMessage).split('\n');
  const quotesAt = line.search(quoting);
  const words = quotesAt < 0 ? line : line.slice(0, quotesAt).replace(/[\s:]{1,9}$/, '');
  const known = Object.hasOwn(advice, code) ? advice[code] : undefined;
  const help = typeof known === 'string' ? call[known] : known?.text;
  const parts = [call.what, code, words === code ? '' : words, help].filter(Boolean);
  return new Error(parts.join(': '), { cause: error });
}

/** `AccessDenied`, `ECONNREFUSED` …; empty when the error has none. */
function getCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)) return error.code;
  return error.name === 'Error' ? '' : error.name;
}
