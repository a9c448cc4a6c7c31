#!/bin/sh
# Builds kubecluster and the kubectl of the same Kubernetes version.
# Usage: ./build.sh [OUTPUT_DIR [GO_COMMAND]]     (defaults: bin, go)
# The settings below are part of Go's build cache key: building with others compiles everything again.
set -eu
cd "$(dirname "$0")"
out=${1:-bin}
go=${2:-go}
export GOTOOLCHAIN=local CGO_ENABLED=0
version=$("$go" list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=$(echo "$version" | cut -d. -f2)
package=k8s.io/component-base/version
# Without these, /version and `kubectl version` report v0.0.0-master.
ldflags="-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$minor -X $package.gitTreeState=clean"
mkdir -p "$out"
# Named after the last part of the module's and of the tool's path: kubecluster, kubectl.
exec "$go" build -buildvcs=false -trimpath -ldflags "$ldflags" -o "$out/" . k8s.io/kubernetes/cmd/kubectl
