import { cacheTable } from '#platform/aws/tables.ts';
import { testAgentStore } from '#test/contracts/agent-store.contract.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();

testAgentStore('the local tables', () => open(cacheTable));
