import { tasksTable } from '#platform/aws/tables.ts';
import { testTaskStore } from '#test/contracts/task-store.contract.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();

testTaskStore('the local tables', () => open(tasksTable));
