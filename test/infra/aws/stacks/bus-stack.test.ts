import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { eventSource } from '#platform/aws/event-bus.ts';
import { getOptions } from '../assembly/option-sets.ts';
import { getTemplate, synthesize } from './synthesize.ts';

const template = getTemplate(synthesize(), 'bus');
const set = 'private, endpoint of the operator: all that the operator may name';
const withoutArchive = getTemplate(synthesize(getOptions(set)), 'bus');
const everyEvent = { source: [eventSource] };

describe('the bus stack', () => {
  it('makes a bus and keeps its events for a month', () => {
    template.hasResourceProperties('AWS::Events::EventBus', { Name: 'busdriver-dev' });
    template.hasResourceProperties('AWS::Events::Archive', { EventPattern: everyEvent, RetentionDays: 30 });
  });

  it('keeps none where the operator wants no archive', () => {
    withoutArchive.resourceCountIs('AWS::Events::Archive', 0);
  });

  it('logs every event, for as long as other logs', () => {
    for (const [stack, RetentionInDays] of [
      [template, 30],
      [withoutArchive, 365],
    ] as const)
      stack.hasResourceProperties('AWS::Logs::LogGroup', {
        LogGroupName: '/aws/events/busdriver-dev',
        RetentionInDays,
      });
    template.hasResourceProperties('AWS::Events::Rule', {
      EventBusName: Match.anyValue(),
      EventPattern: everyEvent,
      ScheduleExpression: Match.absent(),
      // EventBridge takes no ARN that ends in an asterisk, as CloudFormation gives it.
      Targets: [{ Id: Match.anyValue(), Arn: { 'Fn::Join': ['', Match.arrayWith([':log-group:'])] } }],
    });
  });

  it('lets EventBridge write that log and no other', () => {
    const [policy] = Object.values(template.findResources('AWS::Logs::ResourcePolicy'));
    const text = JSON.stringify(policy).replaceAll('\\', '');
    expect(text).toContain('"Action":["logs:CreateLogStream","logs:PutLogEvents"]');
    expect(text).toContain('"Principal":{"Service":"events.amazonaws.com"}');
    expect(text).toContain('"Resource":"",{"Fn::GetAtt":["Log');
  });
});
