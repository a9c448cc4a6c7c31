import { tasksTable } from '../../../../shared/aws/tables.ts';
import { testTaskStore } from '../../../contracts/task-store.contract.ts';
import { useLocalTables } from '../../../support/engines/local-tables.ts';

const open = useLocalTables();

testTaskStore('the local tables', () => open(tasksTable));
