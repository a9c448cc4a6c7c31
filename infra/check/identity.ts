import { accountReads } from './account-reads.ts';
import { type Check, defineCheck, defineKnown, type Finding, mend, note, ok } from './rows.ts';
import { findStack, type InstalledStack, type Subject } from './subject.ts';

const matter = 'account';

/** Name of CDK's own stack, unless its operator chose another one. */
const toolkitName = 'CDKToolkit';

/** Who asks and where, and whether CDK's own stack is there. */
export function listIdentityChecks(subject: Subject): readonly Check[] {
  const { plan, account, region } = subject;
  return [
    defineKnown(matter, 'who asks', [judgeCaller(subject.callerArn)]),
    defineKnown(matter, 'where', [
      ok(`account ${account}, region ${region}, partition ${subject.partition}`),
    ]),
    defineCheck({
      matter,
      what: 'CDK bootstrap',
      async gather(reader) {
        const answer = await reader.find(accountReads.getParameter, { Name: plan.bootstrap.parameter });
        return answer?.Parameter?.Value;
      },
      judge: (version) => [judgeBootstrap(version, subject)],
    }),
    defineCheck({
      matter,
      what: `stack ${toolkitName}`,
      gather: (reader) => findStack(toolkitName, reader),
      judge: (stack) => [judgeToolkit(stack, subject)],
    }),
  ];
}

/** Who asks. */
export function judgeCaller(callerArn: string): Finding {
  if (!callerArn.endsWith(':root')) return ok(callerArn);
  return note(`${callerArn}: the root user`, 'deploy as a role or a user with permissions of its own');
}

/**
 * CDK's version in the account.
 *
 * @param version what the parameter says; undefined where there is none
 */
export function judgeBootstrap(version: string | undefined, subject: Subject): Finding {
  const { versionMin } = subject.plan.bootstrap;
  const next = toBootstrapCommand(subject);
  if (version === undefined) return mend('CDK is not bootstrapped here', next);
  if (Number(version) >= versionMin) return ok(`version ${version}; ${versionMin} is needed`);
  return mend(`version ${version} is too old: ${versionMin} is needed`, next);
}

/** The stack of CDK itself. */
export function judgeToolkit(stack: InstalledStack | undefined, subject: Subject): Finding {
  if (stack === undefined)
    return note('there is no stack of that name', 'fine where CDK was bootstrapped under another name');
  if (/^(CREATE|UPDATE|IMPORT)_COMPLETE$|^UPDATE_ROLLBACK_COMPLETE$/.test(stack.status))
    return ok(stack.status);
  return mend(`${stack.status} ${stack.reason ?? ''}`.trim(), toBootstrapCommand(subject));
}

/** What makes or renews CDK's own stack. */
export function toBootstrapCommand({ account, region }: Pick<Subject, 'account' | 'region'>): string {
  return `npx cdk bootstrap aws://${account}/${region}`;
}
