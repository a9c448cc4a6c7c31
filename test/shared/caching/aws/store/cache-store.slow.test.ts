import { cacheTable } from '#platform/aws/tables.ts';
import { testCacheStore } from '#test/contracts/cache-store.contract.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();

testCacheStore('the local tables', () => open(cacheTable));
