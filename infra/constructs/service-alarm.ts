import { Duration } from 'aws-cdk-lib';
import { Alarm, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { type Context, toResourceName } from '../context.ts';

/** What an alarm watches. */
export interface ServiceAlarmProps {
  readonly context: Context;
  /** Name behind prefix and stage. */
  readonly name: string;
  /** What it means that it rings, for who is called. */
  readonly description: string;
  readonly metric: IMetric;
  /** It rings at this value or above. */
  readonly threshold: number;
  /** Periods in a row for which the value must be there. Default 1. */
  readonly periods?: number;
}

/** How long a metric is summed up for an alarm. */
export const alarmPeriod: Duration = Duration.minutes(5);

/** An alarm of ours: quiet without data, and telling the operator's topic when it rings and when it is over. */
export class ServiceAlarm extends Alarm {
  constructor(scope: Construct, id: string, props: ServiceAlarmProps) {
    const { context, name, description, metric, threshold, periods = 1 } = props;
    super(scope, id, {
      alarmName: toResourceName(context, name),
      alarmDescription: description,
      metric,
      threshold,
      evaluationPeriods: periods,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (context.alarmTopicArn === undefined) return;
    const action = new SnsAction(Topic.fromTopicArn(this, 'Topic', context.alarmTopicArn));
    this.addAlarmAction(action);
    this.addOkAction(action);
  }
}
