import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, expect, test, vi } from 'vitest';
import { openDocuments } from '#platform/services/aws-clients.ts';
import { Services } from '#platform/services/services.ts';
import { openSqs } from '#platform/services/sqs-client.ts';
import { listenLocally } from '#test/support/network/local-server.ts';

const settings = {
  BUSDRIVER_TASKS_TABLE: 'tasks',
  BUSDRIVER_CACHE_TABLE: 'cache',
  BUSDRIVER_OPERATIONS_QUEUE_URL: 'http://127.0.0.1/operations',
  BUSDRIVER_AGENTS_QUEUE_URL: 'http://127.0.0.1/agents',
  BUSDRIVER_BUS_NAME: 'busdriver',
  BUSDRIVER_PLACEMENT: 'local',
  BUSDRIVER_ENGINE_ACCESS_KEY_ID: 'id',
  BUSDRIVER_ENGINE_SECRET_ACCESS_KEY: 'secret',
};

afterEach(() => void vi.unstubAllEnvs());

test('calls of a Lambda function carry its trace, are tried again, and are copied for no logger', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    request.resume();
    response.writeHead(seen.length === 1 ? 500 : 200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end('{}');
  });
  const url = `http://127.0.0.1:${await listenLocally(server)}`;
  vi.stubEnv('AWS_ENDPOINT_URL', url);
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'get-task');
  vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1');
  await using services = new Services(settings);
  const documents = openDocuments(services, 'request') as DynamoDBClient;
  const sqs = openSqs(services) as SQSClient;

  await documents.send(new GetItemCommand({ TableName: 'tasks', Key: { pk: { S: 'a' } } }));
  await sqs.send(new GetQueueUrlCommand({ QueueName: 'operations' }));

  expect(seen.map((headers) => headers['x-amz-target'])).toEqual([
    'DynamoDB_20120810.GetItem',
    'DynamoDB_20120810.GetItem',
    'AmazonSQS.GetQueueUrl',
  ]);
  for (const headers of seen) {
    expect(headers).toMatchObject({
      host: url.slice('http://'.length),
      'x-amzn-trace-id': 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1',
      authorization: expect.stringContaining('SignedHeaders='),
      'user-agent': expect.stringContaining('aws-sdk-js'),
    });
  }
  const steps = [documents, sqs].flatMap(({ middlewareStack }) => middlewareStack.identify());
  expect(steps.filter((step) => /log/i.test(step))).toEqual([]);
  server.close();
});
