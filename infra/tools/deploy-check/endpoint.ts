import { listEndpoints } from '#infra/aws/context/context-rules.ts';
import { type Check, type Finding, mend, ok, unchecked } from './rows.ts';
import type { Subject } from './subject.ts';

/** The operator's endpoints through which the API answers. */
export function listEndpointChecks(subject: Subject): readonly Check[] {
  return listEndpoints(subject.plan.context).map(({ id, account }) => ({
    what: `vpcEndpointIds ${id}`,
    async find() {
      if (account === undefined) return checkEndpoint(id, subject);
      const next = `in account ${account}: aws ec2 describe-vpc-endpoints --vpc-endpoint-ids ${id}`;
      return unchecked(`is of account ${account}, which is not looked at`, next);
    },
  }));
}

/** Whether an endpoint is there, and one for APIs. */
async function checkEndpoint(id: string, { reads }: Subject): Promise<Finding> {
  const list =
    'aws ec2 describe-vpc-endpoints --filters Name=vpc-endpoint-type,Values=Interface; then -c vpcEndpointIds=…';
  const answer = await reads.describeVpcEndpoints.find({ VpcEndpointIds: [id] });
  const [endpoint] = answer?.VpcEndpoints ?? [];
  if (endpoint === undefined) return mend('is not in this account and region', list);
  const { ServiceName = '', State = '', VpcId } = endpoint;
  if (!ServiceName.endsWith('.execute-api')) return mend(`is for ${ServiceName}, not for execute-api`, list);
  if (State.toLowerCase() === 'available') return ok(`available, in ${VpcId}`);
  return mend(`is ${State}`, 'wait until it is available, or take another one');
}
