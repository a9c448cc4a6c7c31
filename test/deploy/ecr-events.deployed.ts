import {
  DescribeRuleCommand,
  EventBridgeClient,
  ListTargetsByRuleCommand,
  PutEventsCommand,
  TestEventPatternCommand,
} from '@aws-sdk/client-eventbridge';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { asJsonArray, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import { writeConfig } from '#test/infra/local/start-files.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { configureDeployedSystem, getDeployment } from '#test/support/system/deployed-system.ts';
import { callJson } from './aws-calls.ts';

/** A rule starts the scheduler each minute, and each function that is called for the first time starts. */
const timeout = 150_000;
const repository = 'shop/cart';

/** An event as ECR tells it. */
function toEvent(detail: JsonObject, members: JsonObject = {}): JsonObject {
  return {
    ...{ version: '0', id: '13cde686-328b-6117-af20-0e5566167482', 'detail-type': 'ECR Image Action' },
    ...{ source: 'aws.ecr', account: localAccountId, time: '2026-01-02T03:04:05Z', region: localRegion },
    resources: [],
    detail: { result: 'SUCCESS', 'repository-name': repository, ...detail },
    ...members,
  };
}

it('a push to Amazon ECR is seen by its event, as deployed, though its account is listed once an hour', async () => {
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(await makeTempDir());
  const { endpoint, name } = getDeployment();
  const buses = stack.adopt(new EventBridgeClient({ ...localClientOptions, endpoint }), (each) =>
    each.destroy(),
  );
  const queues = stack.adopt(new SQSClient({ ...localClientOptions, endpoint }), (each) => each.destroy());
  const callEcr = (action: string, input: object) =>
    callJson(endpoint, {
      service: 'ecr',
      target: `AmazonEC2ContainerRegistry_V20150921.${action}`,
      input: { repositoryName: repository, ...input },
    });
  await callEcr('CreateRepository', {});
  stack.defer(async () => void (await callEcr('DeleteRepository', { force: true })));
  await callEcr('PutImage', { imageTag: '1', imageManifest: '{"number":1}' });
  const address = `https://${localAccountId}.dkr.ecr.${localRegion}.amazonaws.com`;
  const accounts = [{ name: 'ecr', address, cacheIntervalSeconds: 3600 }];
  const config = await writeConfig(dir, JSON.stringify({ dockerRegistry: { enabled: true, accounts } }));
  const system = stack.use(await configureDeployedSystem(getDeployment(), { config: [config] }));
  const listTags = async () => {
    const answer = await system.fetch('/dockerRegistry/images/find?account=ecr');
    return asJsonArray((await answer.json()) as JsonValue).map((image) => getPath(image, 'tag'));
  };
  await expect.poll(listTags, { timeout, interval: 1_000 }).toEqual(['1']);

  const Rule = `${name}-agents-ecr-events`;
  const { EventPattern, State } = await buses.send(new DescribeRuleCommand({ Name: Rule }));
  const { Targets = [] } = await buses.send(new ListTargetsByRuleCommand({ Rule }));
  const isSent = async (event: JsonObject) =>
    (await buses.send(new TestEventPatternCommand({ EventPattern, Event: JSON.stringify(event) }))).Result;
  const pushed = toEvent({ 'action-type': 'PUSH', 'image-tag': '2' });
  expect(await Promise.all([pushed, toEvent({ 'action-type': 'DELETE' })].map(isSent))).toEqual([true, true]);
  const others = [
    toEvent({ 'action-type': 'PULL', 'image-tag': '2' }),
    toEvent({ 'action-type': 'PUSH', 'image-tag': '2', result: 'FAILURE' }),
    toEvent({ 'action-type': 'PUSH', 'image-tag': '2' }, { account: '999999999999' }),
    toEvent({ 'action-type': 'PUSH', 'image-tag': '2' }, { source: 'shop.ecr' }),
  ];
  expect(await Promise.all(others.map(isSent))).toEqual(others.map(() => false));
  expect([State, Targets.map(({ Arn, Input, InputPath }) => [Arn, Input, InputPath])]).toEqual([
    'ENABLED',
    [[`arn:aws:sqs:${localRegion}:${localAccountId}:${name}-agents`, undefined, undefined]],
  ]);

  // Nobody but AWS' services may put their events on a bus, in the emulator, too: what the rule would send is put into its queue.
  const Entries = [{ Source: 'aws.ecr', DetailType: 'ECR Image Action', Detail: '{}' }];
  const { Entries: refused } = await buses.send(new PutEventsCommand({ Entries }));
  expect(refused?.map(({ ErrorCode }) => ErrorCode)).toEqual(['NotAuthorizedForSourceException']);
  await callEcr('PutImage', { imageTag: '2', imageManifest: '{"number":2}' });
  const QueueUrl = `${endpoint}/${localAccountId}/${name}-agents`;
  await queues.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(pushed) }));
  await expect.poll(listTags, { timeout, interval: 250 }).toEqual(['1', '2']);
}, 600_000);
