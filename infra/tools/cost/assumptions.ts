/** A month, a twelfth of 365 days: hours, millions of minutes, and millions of seconds. */
export const month = { hours: 730, minutes: 0.0438, seconds: 2.628 };

/** What the templates of a private installation have, with an endpoint of its own and callers known by a secret. A test counts. */
export const templates = {
  alarms: 42, // each of one metric
  customMetrics: 18, // that alarms watch or the dashboard shows, and `TooLarge` of two workers
  polledQueues: 6, // dead letters included
  secrets: 3, // the YAML, artifact accounts, what callers must know
};

/** What the code says. A test compares. */
export const code = {
  interval: 30, // seconds between two runs of an account in use
  idleInterval: 300, // seconds between two runs of one that is not
  turnSlots: 6, // moments of an interval at which turns begin
  agentsPerMessage: 25, // agents that share a message, at most
  messagesPerSend: 10, // messages that are sent with one call, at most
  agentsPerStream: 50, // agents that a worker watches, at most
  workerGb: 1.7275, // GB of memory of a worker
  flushSeconds: 5, // seconds between two writes of a watcher's progress, at least
  taskMonths: 0.23, // months for which a task is kept: 7 of 30.4 days
  agentPingMinutes: 4, // minutes between two pings of an agent
  agentRenewalMinutes: 9, // minutes between two renewals of a session: 0.6 of the time for which its tokens hold
};

/** What was counted. Units of DynamoDB are those of the local engine, which follows AWS' rules. */
export const measured = {
  // `npm run bench -- --units`, an account of 10,000 objects in 100 applications
  runWrites: 4, // write units of a run: its item, claimed and given back
  changeWrites: 2.34, // write units of a changed object: itself and its rows
  changeReads: 2.16, // read units of a changed object: what was there before, its rows
  checkReads: 0.1339, // read units of an object that the hourly check compares
  // `npm run capacity`: `GET /applications` takes 192 read units with 5,001 applications
  directoryReads: 192 / 5_001, // read units of an application
  // `npm run bench`, which counts the calls of a deploy, with a Deployment of 1.4 KB
  operationsEach: 2, // operations of a deploy: `deployManifest`, then `cleanupArtifacts`
  deployWrites: 19, // write units of the deploy: open row 1, row of the list 1, header 4, lease 4, result 8, open row gone 1
  cleanUpWrites: 15, // write units of the clean-up: 1, 1, 4, 4, 4, 1
  taskReads: 2, // read units of a question about a task of 8 KB
  deployEvents: 8, // events of a deploy
  taskKb: 9.5, // KB of the tasks of a deploy
  // `npm run bench -- --only agents`, which counts the calls of agents from outside
  agentQuestionsMinute: 4, // questions for work a minute of an agent that is connected
  agentKeepsMinute: 4, // renewals a minute of the lease on keeping an account cached in which nothing changes
  agentClaimsMinute: 2, // claims a minute of that lease by a standby agent
  agentQuestionReads: 5, // reads for a question: the session, whether account facts are newer, what waits, by three
};

/** What is not measured in AWS. Seconds of the API's functions are of 1 GB. */
export const assumed = {
  zones: 2, // zones of each interface endpoint, one a subnet: what deploy.md advises
  concurrentPollers: 5, // Lambda's pollers of a queue without messages, as its documentation says; a poll lasts 20 s
  environments: 5, // environments of functions that reach clusters, on average, all the time
  keyCalls: 0.2, // calls of KMS a minute of each function in use, for the key of a table: one each 5 minutes

  sweepSeconds: 0.1, // seconds of a turn of sweep-tasks, 1 GB
  scheduleSeconds: 0.2, // seconds of a turn of schedule-agents without accounts, 1 GB
  agentSeconds: 0.00015, // further seconds of it for each account: 10,000 agents are 12 MB to be read, 1.5 s
  agentKb: 1.2, // KB of the item of an agent: it takes two write units

  inUse: 0.25, // share of the time for which an account is in use: six hours a day
  runSeconds: 1.5, // seconds of the worker for a message of agents without changes
  changeSeconds: 0.0012, // … for each changed object: 3.67 requests to DynamoDB of 5 ms, 16 at once
  checkSeconds: 0.0004, // … for each object that the hourly check compares: a first fill took 1.4 ms an object
  objectKb: 1, // KB of a cached object with its share of a row: half a KB without it, by `checkReads`
  runLogKb: 0.6, // KB of the log line of a run that changed something, and of its event
  lagLogKb: 0.4, // KB of the line in which a message logs the delays of its runs
  runWireKb: 15, // KB that an API server answers to a run without changes
  changeWireKb: 3, // KB that it answers for a changed object
  listWireKb: 0.3, // KB that it answers for an object in a list: 3 KB of JSON, which gzip makes a tenth of
  handoverShare: 1.01, // what a worker that watches costs, with the time in which two do: 10 s of 15 minutes

  secretReads: 0.0105, // millions of reads a month of each secret with a kubeconfig: one environment, each 4 to 5 minutes

  lookSeconds: 0.02, // seconds of the authorizer, `GET /credentials`, `GET /task/{id}`, a call of an agent
  requestSeconds: 0.05, // seconds of `POST /kubernetes/ops`, `GET /manifests/…`
  applicationsSeconds: 0.3, // seconds of `GET /applications`
  applicationsEach: 10, // applications of an account
  applicationKb: 0.2, // KB of an application of an account in the answer of `GET /applications`
  accessLogKb: 0.45, // KB of a line of the access log

  taskPolls: 0.4, // share of Orca's questions that are about tasks; the others are about the manifest
  operationSeconds: 0.2, // seconds of the worker for an operation
  eventKb: 0.4, // KB of an event
  functionLogKb: 0.2, // KB that a function logs of a request
  deployWireKb: 60, // KB of a deploy's traffic with the API server

  agentReplicas: 2, // agents of an account, one of which keeps it cached; the others are on standby
  agentKeepReads: 2, // reads for a renewal or a claim: the session, whether account facts are newer
};
