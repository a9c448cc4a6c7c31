package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

const followInterval = 100 * time.Millisecond

// serveLogs answers the kubelet's log request from the pod's annotation.
func (k *kubelet) serveLogs(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	pod, status := k.findContainer(r)
	if message, code := logProblem(r, pod, status, isOn(q, "previous")); code != 0 {
		http.Error(w, message, code)
		return
	}
	container := r.PathValue("container")
	text := logText(pod, container)
	w.Header().Set("Content-Type", "text/plain")
	writeLines(w, text, q)
	if isOn(q, "follow") {
		k.followLogs(w, r, text)
	}
}

// findContainer returns nil for the pod, or for the container's status, that does not exist.
func (k *kubelet) findContainer(r *http.Request) (*v1.Pod, *v1.ContainerStatus) {
	pod, err := k.pods.Pods(r.PathValue("ns")).Get(r.PathValue("pod"))
	if err != nil {
		return nil, nil
	}
	for _, l := range [][]v1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range l {
			if l[i].Name == r.PathValue("container") {
				return pod, &l[i]
			}
		}
	}
	return pod, nil
}

// logProblem tells why there is no log; code 0 means that there is one.
func logProblem(r *http.Request, pod *v1.Pod, s *v1.ContainerStatus, previous bool) (message string, code int) {
	name, container := r.PathValue("pod"), r.PathValue("container")
	switch {
	case pod == nil:
		return fmt.Sprintf("pod %q does not exist", name), http.StatusNotFound
	case s == nil:
		return fmt.Sprintf("container %q in pod %q is not available", container, name), http.StatusBadRequest
	case s.LastTerminationState.Terminated != nil:
		return "", 0
	case previous:
		return fmt.Sprintf("previous terminated container %q in pod %q not found", container, name), http.StatusBadRequest
	case s.State.Waiting != nil:
		return fmt.Sprintf("container %q in pod %q is waiting to start: %s", container, name, s.State.Waiting.Reason), http.StatusBadRequest
	}
	return "", 0
}

func logText(p *v1.Pod, container string) string {
	text, found := findAnn(p, annLogs, container)
	if !found {
		text = fmt.Sprintf("fake log of %s/%s container %s", p.Namespace, p.Name, container)
	}
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// writeLines honours tailLines, limitBytes and timestamps.
func writeLines(w http.ResponseWriter, text string, q url.Values) {
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1] // a text ends with a line end
	if n, err := strconv.Atoi(q.Get("tailLines")); err == nil && n < len(lines) {
		lines = lines[len(lines)-n:]
	}
	left := int64(-1)
	if n, err := strconv.ParseInt(q.Get("limitBytes"), 10, 64); err == nil {
		left = n
	}
	for _, line := range lines {
		if isOn(q, "timestamps") {
			line = time.Now().UTC().Format(time.RFC3339Nano) + " " + line
		}
		if left >= 0 {
			line = line[:min(int64(len(line)), left)]
			left -= int64(len(line))
		}
		fmt.Fprint(w, line)
	}
}

// followLogs sends what is appended to the annotation, until the container ends or the client leaves.
func (k *kubelet) followLogs(w http.ResponseWriter, r *http.Request, sent string) {
	flusher := http.NewResponseController(w)
	for flusher.Flush() == nil {
		pod, status := k.findContainer(r)
		if status == nil || status.State.Terminated != nil || pod.DeletionTimestamp != nil {
			return
		}
		if text := logText(pod, r.PathValue("container")); text != sent {
			writeLines(w, strings.TrimPrefix(text, sent), url.Values{"timestamps": r.URL.Query()["timestamps"]})
			sent = text
			continue
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(followInterval):
		}
	}
}

func isOn(q url.Values, option string) bool {
	on, _ := strconv.ParseBool(q.Get(option))
	return on
}
