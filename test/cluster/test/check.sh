#!/bin/sh
# Checks this module: format, vet, unit tests, then e2e.sh with a fresh cluster and the kubectl of this module.
set -eu
cd "$(dirname "$0")/.."
# As in build.sh: other settings would compile all of Kubernetes once more.
export GOTOOLCHAIN=local CGO_ENABLED=0
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "not formatted by gofmt: $unformatted"; exit 1; }
go vet -buildvcs=false -trimpath .
go test -buildvcs=false -trimpath .
./build.sh
dir=$(mktemp -d)
bin/kubecluster --dir "$dir/cluster" >"$dir/ready" &
cluster=$!
trap 'kill $cluster 2>/dev/null; wait $cluster || true; rm -rf "$dir"' EXIT
until [ -s "$dir/ready" ]; do
  kill -0 $cluster || exit 1
  sleep 0.1
done
KUBECONFIG="$dir/cluster/kubeconfig" PATH="$PWD/bin:$PATH" test/e2e.sh
