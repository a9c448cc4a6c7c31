import { InvalidArgumentError } from 'commander';
import { findAccountNameProblem } from '#accounts/model/account-store.ts';

/** The URL of a server, without a slash at its end. @throws InvalidArgumentError */
export function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('Expected an http or https URL.');
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError(
      'Expected a URL without user and password: a secret is given by BUSDRIVER_TOKEN.',
    );
  }
  if (url.search !== '' || url.hash !== '')
    throw new InvalidArgumentError('Expected a URL without query and fragment.');
  return url.href.replace(/\/$/, '');
}

/** A user of Spinnaker, which is sent as a header. @throws InvalidArgumentError */
export function parseUser(text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(text)) return text;
  throw new InvalidArgumentError('Expected 1 to 255 printable characters of ASCII.');
}

/** The name of an account that may be made. @throws InvalidArgumentError */
export function parseNewName(text: string): string {
  const problem = findAccountNameProblem(text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`${problem.replace(/^name: e/, 'E')}.`);
}

/** One more value of an option that may be repeated. @throws InvalidArgumentError */
export function addValue(text: string, earlier: readonly string[] = []): readonly string[] {
  if (text === '') throw new InvalidArgumentError('Expected a value.');
  return [...earlier, text];
}

/** A number of seconds, 1 to 86400, as text. @throws InvalidArgumentError */
export function parseSeconds(text: string): string {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= 86_400) return text;
  throw new InvalidArgumentError('Expected a number of seconds, 1 to 86400.');
}

/** A value that is not empty. @throws InvalidArgumentError */
export function parseText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Expected a value.');
  return text;
}
