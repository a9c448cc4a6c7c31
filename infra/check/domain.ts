import { VPCRegion } from '@aws-sdk/client-route-53';
import { type AccountReader, NotReadError } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import { judgeRegion } from './arn.ts';
import { type Check, defineCheck, defineKnown, type Finding, mend, note, ok } from './rows.ts';
import type { Subject } from './subject.ts';

const matter = 'domain';

/** What is known of a certificate. */
export interface CertificateFacts {
  /** Such as `ISSUED`. */
  readonly status: string;
  /** The names that it is for. */
  readonly names: readonly string[];
  /** Undefined while it is not issued. */
  readonly notAfter: Date | undefined;
  /** Whether AWS renews it by itself. */
  readonly isRenewed: boolean;
}

/** A hosted zone. */
export interface ZoneFacts {
  /** Its name, without a dot at its end. */
  readonly name: string;
  readonly isPrivate: boolean;
}

/** A name that API Gateway has in the account and region. */
export interface DomainFacts {
  readonly name: string;
  /** `PRIVATE`, `REGIONAL` or `EDGE`. */
  readonly types: readonly string[];
}

/** Days that a certificate should have left that AWS does not renew. */
const daysLeftMin = 30;

const dayMs = 24 * 3600 * 1000;

/** The name under which the API answers, its certificate and its zone. */
export function listDomainChecks(subject: Subject, now: Date): readonly Check[] {
  const { domainName, certificateArn } = subject.plan.context;
  if (domainName === undefined || certificateArn === undefined) {
    const next = '-c domainName=… -c certificateArn=…: Orca drops the path of its base URL';
    return [defineKnown(matter, 'domainName', [note('none', next)])];
  }
  return [
    makeCertificateCheck(subject, { domainName, certificateArn, now }),
    defineCheck({
      matter,
      what: 'domainName',
      gather: readDomains,
      judge: (domains) => [judgeDomain(domains, domainName, subject)],
    }),
    defineCheck({
      matter,
      what: 'hosted zone',
      gather: (reader) => readZones(subject, domainName, reader),
      judge: (zones) => [judgeZones(zones, domainName, subject)],
    }),
  ];
}

interface Certificate {
  readonly domainName: string;
  readonly certificateArn: string;
  readonly now: Date;
}

function makeCertificateCheck(subject: Subject, { domainName, certificateArn, now }: Certificate): Check {
  const misplaced = judgeRegion(certificateArn, 'certificateArn', subject);
  if (misplaced !== undefined) return defineKnown(matter, 'certificateArn', [misplaced]);
  return defineCheck({
    matter,
    what: 'certificateArn',
    gather: (reader) => readCertificate(certificateArn, reader),
    judge: (facts) => judgeCertificate(facts, { domainName, now }),
  });
}

/**
 * Whether a certificate can be used.
 *
 * @param facts undefined where there is none
 */
export function judgeCertificate(
  facts: CertificateFacts | undefined,
  { domainName, now }: { readonly domainName: string; readonly now: Date },
): Finding[] {
  const request = `aws acm request-certificate --domain-name ${domainName} --validation-method DNS`;
  if (facts === undefined) return [mend('there is none of this ARN', request)];
  const { status, names, notAfter, isRenewed } = facts;
  if (status === 'PENDING_VALIDATION') {
    return [
      mend(status, 'make the record that aws acm describe-certificate names, and wait until it is ISSUED'),
    ];
  }
  if (status !== 'ISSUED') return [mend(status, request)];
  const isFor = names.some((name) => covers(name, domainName));
  const covered = isFor
    ? ok(`ISSUED, for ${names.join(', ')}`)
    : mend(`is for ${names.join(', ')}, not for ${domainName}`, request);
  const daysLeft = Math.floor(((notAfter?.getTime() ?? 0) - now.getTime()) / dayMs);
  const expiry = `${daysLeft} days left${isRenewed ? ', and AWS renews it' : ''}`;
  if (daysLeft >= daysLeftMin || isRenewed) return [covered, ok(expiry)];
  return [covered, mend(`${expiry}, and AWS does not renew it`, 'import or request a newer one')];
}

/** Whether a name of a certificate is for a domain: `*` stands for one label. */
export function covers(name: string, domainName: string): boolean {
  if (!name.startsWith('*.')) return name.toLowerCase() === domainName;
  return name.slice(1).toLowerCase() === domainName.slice(domainName.indexOf('.'));
}

/** Whether the name can still be taken. */
export function judgeDomain(
  domains: readonly DomainFacts[],
  domainName: string,
  { plan, installed }: Pick<Subject, 'plan' | 'installed'>,
): Finding {
  const api = `${plan.name}-api`;
  const type = plan.context.publicApi ? 'REGIONAL' : 'PRIVATE';
  const taken = domains.find(({ name, types }) => name === domainName && types.includes(type));
  if (taken === undefined) return ok(`${domainName} is not taken in this account and region`);
  if (installed?.has(api)) return ok(`${domainName} is there, and so is ${api}`);
  return mend(
    `API Gateway has the ${type.toLowerCase()} name ${domainName} already`,
    `aws apigateway get-domain-names; delete it if nobody needs it, or take another name: -c domainName=…`,
  );
}

/** Whether there is a zone for the name: where it is not seen it may be another account's. */
export function judgeZones(
  zones: readonly ZoneFacts[],
  domainName: string,
  { plan }: Pick<Subject, 'plan'>,
): Finding {
  const wantsPrivate = !plan.context.publicApi;
  const kind = wantsPrivate ? 'private' : 'public';
  const fitting = zones.filter(
    ({ name, isPrivate }) =>
      isPrivate === wantsPrivate && (domainName === name || domainName.endsWith(`.${name}`)),
  );
  const [best] = fitting.sort((one, other) => other.name.length - one.name.length);
  const where = wantsPrivate && plan.context.vpcId !== undefined ? ` of ${plan.context.vpcId}` : '';
  if (best !== undefined) {
    return note(
      `the ${kind} zone ${best.name}${where}`,
      `after the deploy, an alias in it: docs/deploy.md#give-it-a-name`,
    );
  }
  return note(
    `no ${kind} zone for ${domainName}${where} in this account`,
    'make one, unless another account has it: docs/deploy.md#give-it-a-name',
  );
}

async function readCertificate(
  CertificateArn: string,
  reader: AccountReader,
): Promise<CertificateFacts | undefined> {
  const answer = await reader.find(accountReads.describeCertificate, { CertificateArn });
  const certificate = answer?.Certificate;
  if (certificate === undefined) return undefined;
  const { DomainName = '', SubjectAlternativeNames = [], RenewalEligibility } = certificate;
  return {
    status: certificate.Status ?? '',
    names: [...new Set([DomainName, ...SubjectAlternativeNames])].filter((name) => name !== ''),
    notAfter: certificate.NotAfter,
    isRenewed: certificate.Type === 'AMAZON_ISSUED' && RenewalEligibility === 'ELIGIBLE',
  };
}

async function readDomains(reader: AccountReader): Promise<DomainFacts[]> {
  const pages = await reader.list(
    accountReads.getDomainNames,
    (position) => ({ limit: 500, position }),
    ({ position }) => position,
  );
  return pages
    .flatMap(({ items = [] }) => items)
    .map(({ domainName = '', endpointConfiguration }) => ({
      name: domainName,
      types: endpointConfiguration?.types ?? [],
    }));
}

async function readZones(
  { plan, region }: Subject,
  domainName: string,
  reader: AccountReader,
): Promise<ZoneFacts[]> {
  const { publicApi, vpcId } = plan.context;
  if (!publicApi && vpcId !== undefined) {
    const input = { VPCId: vpcId, VPCRegion: toZoneRegion(region) };
    const { HostedZoneSummaries = [] } = await reader.get(accountReads.listHostedZonesByVpc, input);
    return HostedZoneSummaries.map(({ Name = '' }) => ({ name: trimDot(Name), isPrivate: true }));
  }
  const pages = await Promise.all(
    listParents(domainName).map((DNSName) =>
      reader.get(accountReads.listHostedZonesByName, { DNSName, MaxItems: 5 }),
    ),
  );
  return pages
    .flatMap(({ HostedZones = [] }) => HostedZones)
    .map(({ Name = '', Config }) => ({ name: trimDot(Name), isPrivate: Config?.PrivateZone === true }));
}

/** Route 53's own list of regions. @throws NotReadError for one that it does not have */
function toZoneRegion(region: string): VPCRegion {
  const known = Object.values(VPCRegion).find((name) => name === region);
  if (known === undefined) throw new NotReadError(`Route 53's client does not know ${region}`);
  return known;
}

/** `a.b.example.com`, `b.example.com`, `example.com`. */
function listParents(domainName: string): string[] {
  const labels = domainName.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}

function trimDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
