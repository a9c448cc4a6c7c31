import { type Check, type Finding, mend, note, ok } from './rows.ts';
import type { Subject } from './subject.ts';

/** Who asks and where, and whether CDK is bootstrapped there. */
export function listIdentityChecks(subject: Subject): readonly Check[] {
  const { callerArn, account, region, partition } = subject;
  return [
    { what: 'who asks', find: async () => judgeCaller(callerArn) },
    {
      what: 'where',
      find: async () => ok(`account ${account}, region ${region}, partition ${partition}`),
    },
    { what: 'CDK bootstrap', find: () => checkBootstrap(subject) },
  ];
}

function judgeCaller(callerArn: string): Finding {
  if (!callerArn.endsWith(':root')) return ok(callerArn);
  return note(`${callerArn}: the root user`, 'deploy as a role or a user with permissions of its own');
}

async function checkBootstrap(subject: Subject): Promise<Finding> {
  const { versionMin, parameter } = subject.plan.bootstrap;
  const version = (await subject.reads.getParameter.find({ Name: parameter }))?.Parameter?.Value;
  const next = toBootstrapCommand(subject);
  if (version === undefined) return mend('CDK is not bootstrapped here', next);
  if (Number(version) >= versionMin) return ok(`version ${version}; ${versionMin} is needed`);
  return mend(`version ${version} is too old: ${versionMin} is needed`, next);
}

/** What makes or renews CDK's own stack. */
export function toBootstrapCommand({ account, region }: Pick<Subject, 'account' | 'region'>): string {
  return `npx cdk bootstrap aws://${account}/${region}`;
}
