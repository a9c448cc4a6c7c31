import { tables } from '#platform/aws/tables.ts';
import { startDynamoDb } from '#test/support/engines/engine-servers.ts';

/** The local DynamoDB in a process of its own, which tells its address. The argument is the folder of its data. */
const [dir = ''] = process.argv.slice(2);
const engine = await startDynamoDb({ dir, tables });
process.send?.(engine.url);
// Whoever started it is gone, however that came.
process.once('disconnect', () => process.exit());
