import { type Check, type Finding, inRegion, mend, note, ok } from './rows.ts';
import type { Subject } from './subject.ts';

/** Days that a certificate should have left that AWS does not renew. */
const daysLeftMin = 30;

const dayMs = 24 * 3600 * 1000;

/** The name under which the API answers, and its certificate. */
export function listDomainChecks(subject: Subject): readonly Check[] {
  const { domainName, certificateArn } = subject.plan.context;
  if (domainName === undefined || certificateArn === undefined) {
    const next = '-c domainName=… -c certificateArn=…: Orca drops the path of its base URL';
    return [{ what: 'domainName', find: async () => note('none', next) }];
  }
  return [
    inRegion(subject.region, certificateArn, {
      what: 'certificateArn',
      find: () => checkCertificate(certificateArn, domainName, subject),
    }),
    { what: 'domainName', find: () => checkDomain(domainName, subject) },
  ];
}

/** Whether a certificate is issued, for the name, and for some time. */
async function checkCertificate(
  CertificateArn: string,
  domainName: string,
  { reads }: Subject,
): Promise<Finding> {
  const request = `aws acm request-certificate --domain-name ${domainName} --validation-method DNS`;
  const answer = await reads.describeCertificate.find({ CertificateArn });
  if (answer?.Certificate === undefined) return mend('there is none of this ARN', request);
  const {
    Status = '',
    SubjectAlternativeNames: names = [],
    NotAfter,
    RenewalEligibility,
  } = answer.Certificate;
  if (Status === 'PENDING_VALIDATION')
    return mend(
      Status,
      'make the record that aws acm describe-certificate names, and wait until it is ISSUED',
    );
  if (Status !== 'ISSUED') return mend(Status, request);
  if (!names.some((name) => covers(name, domainName)))
    return mend(`is for ${names.join(', ')}, not for ${domainName}`, request);
  const daysLeft = Math.floor(((NotAfter?.getTime() ?? 0) - Date.now()) / dayMs);
  const found = `ISSUED, for ${names.join(', ')}, ${daysLeft} days left`;
  if (RenewalEligibility === 'ELIGIBLE') return ok(`${found}, and AWS renews it`);
  if (daysLeft >= daysLeftMin) return ok(found);
  return mend(`${found}, and AWS does not renew it`, 'import or request a newer one');
}

/** Whether a name of a certificate is for a domain: `*` matches one label. */
function covers(name: string, domainName: string): boolean {
  if (!name.startsWith('*.')) return name.toLowerCase() === domainName;
  return name.slice(1).toLowerCase() === domainName.slice(domainName.indexOf('.'));
}

/** Whether the name can still be taken: API Gateway has one of each type in an account and region, and fewer than a page holds. */
async function checkDomain(domainName: string, { plan, reads, installed }: Subject): Promise<Finding> {
  const { items = [] } = await reads.getDomainNames.get({ limit: 500 });
  const type = plan.context.publicApi ? 'REGIONAL' : 'PRIVATE';
  const isTaken = items.some(
    (one) => one.domainName === domainName && one.endpointConfiguration?.types?.includes(type),
  );
  if (!isTaken) return ok(`${domainName} is not taken in this account and region`);
  const api = `${plan.name}-api`;
  if ((await installed).has(api)) return ok(`${domainName} is there, and so is ${api}`);
  return mend(
    `API Gateway has the ${type.toLowerCase()} name ${domainName} already`,
    `aws apigateway get-domain-names; delete it if nobody needs it, or take another name: -c domainName=…`,
  );
}
