import { cacheTable } from '../../../../shared/aws/tables.ts';
import { testAgentStore } from '../../../contracts/agent-store.contract.ts';
import { useLocalTables } from '../../../support/engines/local-tables.ts';

const open = useLocalTables();

testAgentStore('the local tables', () => open(cacheTable));
