#!/bin/sh
# Calls, watches and disturbs an installation in AWS, and adds a table to a report. docs/first-night.md says how to run it.
set -u

if [ "${1---help}" = --help ]; then
  cat <<'END'
Usage: ACCOUNT=shop NAMESPACE=shop npm run first-night -- PART…

Parts, in the order given:
  deploy   npm run deploy:check, then cdk deploy --all without asking for approval
  calls    first and second calls, two deploys, caching agents, alarms
  drills   no workers, one worker, a schedule that does not run; all is put back, at Ctrl-C too
  day      units read and written in the last 24 hours, quotas, alarms

Variables:
  ACCOUNT, NAMESPACE  get the ConfigMap first-night (calls, drills)
  URL                 the API, as Spinnaker calls it; default http://127.0.0.1:7002
  NAME                the installation; default busdriver-prod
  REPORT              a file; default first-night.md

Needs curl and version 2 of the AWS CLI. Exit codes: 0 all as expected, 1 FAILED is in the report, 2 wrong command line.
END
  exit
fi
wrong() { echo "$1. Try npm run first-night -- --help" >&2; exit 2; }
name=${NAME-busdriver-prod} url=${URL-http://127.0.0.1:7002} report=${REPORT-first-night.md} account=${ACCOUNT-} namespace=${NAMESPACE-}
for part in "$@"; do
  case $part in deploy | day) continue ;; calls | drills) ;; *) wrong "'$part': expected deploy, calls, drills or day" ;; esac
  case $account in '' | *[!A-Za-z0-9._-]*) wrong "ACCOUNT: expected the name of an account, not '$account'" ;; esac
  case $namespace in '' | *[!a-z0-9-]*) wrong "NAMESPACE: expected a namespace, not '$namespace'" ;; esac
done
began=$(date +%s) workers=$name-run-operations failed=0
exec 3>&2
# A drill that is interrupted puts back what it took before this ends.
trap 'exit 130' INT TERM

# Adds a row of what a command prints, which the first failing line ends, and how long it took. The others still follow.
step() {
  title=$1 since=$(date +%s); shift
  echo "$title …" >&3
  found=$(set -e; "$@" 2>&1)
  [ $? = 0 ] || { failed=1; found="FAILED: $found"; echo "$found" >&3; }
  row=$(printf %s "$found" | tail -c 1000 | tr '\n|\r\t' ' /  ')
  echo "| $title | $(($(date +%s) - since)) | $row |" >>"$report" || exit 1
}
# attempt SECONDS PAUSE COMMAND…: repeats a command until it succeeds.
attempt() {
  end=$(($(date +%s) + $1)) pause=$2; shift 2
  until "$@"; do [ "$(date +%s)" -lt "$end" ] || return 1; sleep "$pause"; done
}

install() { npm run deploy:check >&3 2>&3; npx cdk deploy --all --require-approval never >&3 2>&3; }
request() {
  curl -sS --max-time 30 "$@" || { echo "No answer: is URL=$url reached from here? See docs/first-night.md" >&2; return 1; }
}
timed() { request -o /dev/null -w '%{http_code} in %{time_total} s; ' "$url$1"; }
is_read() { case $(timed "$1") in 200*) ;; *) return 1 ;; esac; }
twice() { timed "$1"; attempt 180 5 is_read "$1"; timed "$1"; }
post() {
  answer=$(request -X POST "$url/kubernetes/ops?clientRequestId=first-night-$began-$1" -H 'Content-Type: application/json' -d '[{"deployManifest":
    {"account": "'"$account"'", "moniker": {"app": "night"}, "manifests": [{"apiVersion": "v1", "kind": "ConfigMap", "data": {"post": "'"$1"'"},
    "metadata": {"name": "first-night", "namespace": "'"$namespace"'", "annotations": {"strategy.spinnaker.io/versioned": "false"}}}]}}]')
  case $answer in *'"id":"'*) ;; *) echo "Expected a task, got: $answer" >&2; return 1 ;; esac
  echo "$answer" | sed 's/.*"id":"\([^"]*\)".*/\1/'
}
is_ended() { task=$(request "$url/task/$1?waitSeconds=20") && case $task in *'"completed":true'*) ;; *) return 1 ;; esac; }
finish() {
  attempt 900 1 is_ended "$1" || { echo "Task $1 has not ended: see the log of $workers" >&2; return 1; }
  case $task in *'"failed":false'*) ;; *) echo "Task $1 failed: $task" >&2; return 1 ;; esac
}
operation() {
  id=$(post "$1"); again=$(post "$1"); finish "$id"
  [ "$id" = "$again" ] || { echo "Repeated, the request got another task: $id, $again"; return 1; }
  echo "task $id completed; repeated, the request got the same"
}
agents() { request "$url/cache/introspection" | grep -o '"\(asOf\|intervalMs\)":' | sort | uniq -c; }
alarms() { aws cloudwatch describe-alarms --output text --query 'MetricAlarms[].AlarmName' --state-value "$@"; }
units() {
  aws cloudwatch get-metric-statistics --namespace AWS/DynamoDB --metric-name "$2" --dimensions "Name=TableName,Value=$name-$1" \
    --statistics Sum --period 86400 --start-time $((began - 86400)) --end-time "$began" --query 'Datapoints[].Sum' --output text
}

is_ringing() { [ -n "$(alarms ALARM --alarm-names "$1")" ]; }
ring() {
  attempt 1200 15 is_ringing "$name-$1" || { echo "The alarm $1 did not fire in 20 minutes" >&2; return 1; }
  echo "$1 fired;"
}
limit() { aws lambda put-function-concurrency --function-name "$workers" --reserved-concurrent-executions "$1" >/dev/null; }
# drill WORKERS POSTS [ALARM]: leaves so many workers while deploys are posted, then puts the former number back.
drill() {
  usual=$(aws lambda get-function-concurrency --function-name "$workers" --query ReservedConcurrentExecutions --output text)
  case $usual in 0 | *[!0-9]* | '') echo "$workers has a reserved concurrency of '$usual': set it first"; return 1 ;; esac
  trap 'limit "$usual"' EXIT; trap 'exit 1' INT TERM
  limit "$1"
  ids=$(for each in $(seq "$2"); do post "$1-of-$2-$each"; done)
  [ $# = 2 ] || ring "$3"
  limit "$usual"
  for id in $ids; do finish "$id"; done
  echo "$2 posted, $(echo "$ids" | sort -u | wc -l | tr -d ' ') tasks completed"
}
unscheduled() {
  trap 'aws events enable-rule --name "$name-sweep-tasks"' EXIT; trap 'exit 1' INT TERM
  aws events disable-rule --name "$name-sweep-tasks"
  ring sweep-tasks-silent
}

printf '\n## %s, %s, %s\n\n| What | Seconds | Found |\n|---|---|---|\n' "$(date -u +%FT%TZ)" "$name" "$(git rev-parse HEAD)" >>"$report" || exit 1
for part in "$@"; do
  case $part in
    deploy) step 'check and deploy' install ;;
    calls)
      for path in /health /credentials; do step "$path" twice "$path"; done
      for each in first later; do step "$each deploy" operation "$each"; done
      step 'caching agents' agents
      ;;
    drills)
      step 'no workers' drill 0 5 run-operations-throttles
      step 'one worker' drill 1 20
      step 'a schedule that does not run' unscheduled
      ;;
    day)
      for table in tasks cache; do for unit in Read Write; do step "$unit units of $table" units $table "Consumed${unit}CapacityUnits"; done; done
      step 'concurrency: quota, unreserved' aws lambda get-account-settings --output text \
        --query 'AccountLimit.[ConcurrentExecutions, UnreservedConcurrentExecutions]'
      ;;
  esac
  for state in ALARM INSUFFICIENT_DATA; do step "alarms in $state" alarms $state --alarm-name-prefix "$name-"; done
done
echo "The report is in $report; the ConfigMap first-night can be deleted" >&2
exit $failed
