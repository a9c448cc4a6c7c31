import { startDynamoDb } from '../../infra/local/dynamodb.ts';
import { tables } from '../../shared/aws/tables.ts';
import { openTestAccess } from '../support/engines/local-aws-client.ts';

/** The local DynamoDB in a process of its own, which tells its address. The argument is the folder of its data. */
const [dir = ''] = process.argv.slice(2);
const engine = await startDynamoDb({ dir, tables, access: openTestAccess() });
process.send?.(engine.url);
// Whoever started it is gone, however that came.
process.once('disconnect', () => process.exit());
