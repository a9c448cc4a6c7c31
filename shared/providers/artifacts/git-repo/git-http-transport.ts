import { InvalidInputError } from '#core/errors.ts';
import { type Authorizer, withCredentials } from '../download/authorization.ts';
import type { CredentialHeaders, Downloader, DownloadRequest } from '../download/downloader.ts';
import { notGit } from '../git/packets.ts';
import type { GitTransport } from '../git/refs.ts';

const service = 'git-upload-pack';
const refsSuffix = '/info/refs';

/** Some servers return a web page to clients that do not identify as git. */
const sharedHeaders = { 'user-agent': 'git/2 busdriver', 'git-protocol': 'version=2' };

/** The options of calling a repository. */
export interface HttpTransportOptions {
  readonly downloader: Downloader;
  readonly authorize: Authorizer;
}

/**
 * Calls a repository by git's "smart" HTTP. Later calls go to the target of the first one's redirects; credentials are sent only to the
 * origin of the URL.
 *
 * @param url URL of the repository, as for `git clone`.
 */
export function createHttpTransport(url: URL, { downloader, authorize }: HttpTransportOptions): GitTransport {
  if (url.search !== '' || url.hash !== '') {
    throw new InvalidInputError('reference: expected the URL of a repository, without query and fragment');
  }
  let base = url.href.replace(/\/$/, '');

  function send(request: Omit<DownloadRequest, 'credentials'>, signal: AbortSignal) {
    const isHere = request.url.origin === url.origin;
    return withCredentials(
      isHere ? authorize : async () => undefined,
      url,
      (credentials?: CredentialHeaders) => downloader.open({ ...request, credentials }, signal),
    );
  }

  return {
    async advertise(signal) {
      const refsUrl = new URL(`${base}${refsSuffix}?service=${service}`);
      const answer = await send({ url: refsUrl, headers: sharedHeaders }, signal);
      const { origin, pathname } = answer.url;
      if (!pathname.endsWith(refsSuffix)) throw notGit();
      base = origin + pathname.slice(0, -refsSuffix.length);
      return answer.body;
    },
    async request({ body }, signal) {
      const request: DownloadRequest = {
        url: new URL(`${base}/${service}`),
        method: 'POST',
        headers: sharedHeaders,
        body: { mediaType: `application/x-${service}-request`, text: body },
        accept: `application/x-${service}-result`,
      };
      return (await send(request, signal)).body;
    },
  };
}
