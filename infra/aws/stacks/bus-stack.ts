import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { EventBus, type IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, ResourcePolicy } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { nameEventBus } from '../constructs/shared-resources.ts';
import { type Context, toResourceName } from '../context/context.ts';

/** Every event of ours. */
const eventPattern = { source: ['busdriver'] };

/** The bus on which Busdriver publishes its events, an archive to replay them from, and its log. */
export class BusStack extends Stack {
  constructor(scope: Construct, id: string, { context }: { readonly context: Context }) {
    super(scope, id, { description: 'Busdriver: event bus, its archive and its log' });
    const eventBusName = nameEventBus(context);
    const bus = new EventBus(this, 'Bus', { eventBusName });
    this.exportValue(bus.eventBusArn);
    this.exportValue(bus.eventBusName);
    if (context.archiveDays > 0) {
      bus.archive('Archive', {
        archiveName: toResourceName(context, 'events'),
        eventPattern,
        retention: Duration.days(context.archiveDays),
      });
    }
    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/aws/events/${eventBusName}`,
      retention: context.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const ruleName = toResourceName(context, 'log-events');
    new Rule(this, 'LogEvents', {
      ruleName,
      eventBus: bus,
      eventPattern,
      targets: [this.#toTarget(logGroup)],
    });
  }

  /** CDK's own target for logs would bring a function along whose only work is to write the log's policy. */
  #toTarget(logGroup: LogGroup): IRuleTarget {
    new ResourcePolicy(this, 'LogPolicy', {
      policyStatements: [
        new PolicyStatement({
          principals: [new ServicePrincipal('events.amazonaws.com')],
          actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          resources: [logGroup.logGroupArn],
        }),
      ],
    });
    const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
    const { logGroupName: resourceName } = logGroup;
    const arn = this.formatArn({ service: 'logs', resource: 'log-group', resourceName, arnFormat });
    return { bind: () => ({ arn, targetResource: logGroup }) };
  }
}
