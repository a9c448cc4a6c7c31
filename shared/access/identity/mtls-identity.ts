import type { APIGatewayProxyEvent } from 'aws-lambda';
import { trimBlanks } from '#core/blanks.ts';
import { UnauthenticatedError } from '#core/errors.ts';
import type { Identifier } from './identifier.ts';
import { findAccounts, findUser } from './identity-headers.ts';
import type { MtlsIdentitySettings } from './identity-settings.ts';
import { findCommonName, isSameSubject, parseSubjectName, type SubjectName } from './subject-name.ts';

/** Longest common name that is accepted as a user, in characters. */
export const commonNameLengthMax = 1024;

/**
 * Identifies callers by the client certificate, which the front door verified. Trusted subjects (Gate, Orca) speak for the user of
 * `X-SPINNAKER-USER` with the accounts of `X-SPINNAKER-ACCOUNTS`. Any other certificate speaks only for itself: its common name is the
 * user, and no header counts.
 */
export function createMtlsIdentifier({ trustedSubjects }: MtlsIdentitySettings): Identifier {
  return {
    async identify(event) {
      const subject = getSubject(event);
      if (trustedSubjects.some((trusted) => isSameSubject(trusted, subject)))
        return { kind: 'mtls', user: findUser(event), allowedAccounts: findAccounts(event) };
      return { kind: 'mtls', user: getCommonName(subject), allowedAccounts: undefined };
    },
  };
}

/** The subject of the certificate, where API Gateway, and the front door of one machine, put it. */
function getSubject({ requestContext }: APIGatewayProxyEvent): SubjectName {
  const text = requestContext?.identity?.clientCert?.subjectDN;
  if (!text) throw new UnauthenticatedError('Expected a client certificate, which the connection has not');
  const subject = parseSubjectName(text);
  if (subject !== undefined) return subject;
  throw new UnauthenticatedError('The client certificate has a subject that is no distinguished name');
}

function getCommonName(subject: SubjectName): string {
  const name = trimBlanks(findCommonName(subject) ?? '');
  if (name && name.length <= commonNameLengthMax) return name;
  throw new UnauthenticatedError('The client certificate has no single common name (CN) that tells the user');
}
