package main

import (
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Annotations on a Pod (so: on the pod template) that steer the fake kubelet.
// "outcome", "exit-code", "logs" and "message" may carry a ".<container>" suffix.
const (
	annOutcome    = "kubecluster.test/outcome"           // see the constants below
	annExitCode   = "kubecluster.test/exit-code"         // for fail / crashloop, default 1
	annMessage    = "kubecluster.test/message"           // termination message
	annLogs       = "kubecluster.test/logs"              // what `kubectl logs` returns
	annStartDelay = "kubecluster.test/start-delay"       // time in ContainerCreating
	annRunFor     = "kubecluster.test/run-for"           // running time before succeed / fail
	annTermDelay  = "kubecluster.test/termination-delay" // time between delete and gone
	annCPU        = "kubecluster.test/cpu"               // usage in metrics.k8s.io, default 10m
	annMemory     = "kubecluster.test/memory"            // usage in metrics.k8s.io, default 16Mi
)

const (
	outRun         = "run"          // running and ready (default if restartPolicy is Always)
	outSucceed     = "succeed"      // exits 0 after run-for (default otherwise)
	outFail        = "fail"         // exits non-zero after run-for
	outCrashLoop   = "crashloop"    // CrashLoopBackOff, restartCount grows
	outImagePull   = "image-pull"   // ErrImagePull, then ImagePullBackOff
	outConfigError = "config-error" // CreateContainerConfigError
	outNotReady    = "not-ready"    // running, never ready
	outPending     = "pending"      // stays in ContainerCreating
)

func ann(p *v1.Pod, key, container string) string {
	v, _ := findAnn(p, key, container)
	return v
}

func findAnn(p *v1.Pod, key, container string) (v string, found bool) {
	if v, found = p.Annotations[key+"."+container]; found {
		return v, found
	}
	v, found = p.Annotations[key]
	return v, found
}

func annDuration(p *v1.Pod, key string, def time.Duration) time.Duration {
	if d, err := time.ParseDuration(p.Annotations[key]); err == nil {
		return d
	}
	return def
}

func outcome(p *v1.Pod, c *v1.Container) string {
	if o := ann(p, annOutcome, c.Name); o != "" {
		return o
	}
	if isImageMissing(c.Image) {
		return outImagePull
	}
	if p.Spec.RestartPolicy == v1.RestartPolicyAlways {
		return outRun
	}
	return outSucceed
}

func isImageMissing(image string) bool {
	host, _, _ := strings.Cut(image, "/")
	host, _, _ = strings.Cut(host, ":")
	return strings.HasSuffix(host, ".invalid") || strings.HasSuffix(image, ":does-not-exist")
}

func exitCode(p *v1.Pod, container, what string) int32 {
	if what == outSucceed {
		return 0
	}
	if n, err := strconv.ParseInt(ann(p, annExitCode, container), 10, 32); err == nil {
		return int32(n)
	}
	return 1
}

// podStatus computes what a kubelet would report for pod at time now, and after
// which time it has to look again (0: only when the pod changes).
func podStatus(pod *v1.Pod, now time.Time, o options, newIP func() string) (*v1.PodStatus, time.Duration) {
	st := pod.Status.DeepCopy()
	if st.StartTime == nil {
		st.StartTime = &metav1.Time{Time: now}
	}
	st.HostIP = "127.0.0.1"
	st.HostIPs = []v1.HostIP{{IP: st.HostIP}}
	st.ObservedGeneration = pod.Generation
	m := newMoment(pod, st, now, o)
	if !m.delayed && st.PodIP == "" {
		st.PodIP = st.HostIP
		if !pod.Spec.HostNetwork {
			st.PodIP = newIP()
		}
		st.PodIPs = []v1.PodIP{{IP: st.PodIP}}
	}
	var initialized bool
	st.InitContainerStatuses, initialized = m.initContainers()
	st.ContainerStatuses = m.containers(initialized)
	st.Phase = phase(pod, st)
	setConditions(pod, st, m.delayed, initialized)
	return st, m.again
}

// phase follows from the containers as in a kubelet: one that never started keeps the pod pending.
func phase(pod *v1.Pod, st *v1.PodStatus) v1.PodPhase {
	if pod.Spec.RestartPolicy == v1.RestartPolicyNever {
		for _, s := range st.InitContainerStatuses {
			if hasFailed(s) {
				return v1.PodFailed
			}
		}
	}
	var running, waiting, failed bool
	for _, s := range st.ContainerStatuses {
		switch {
		case s.State.Running != nil, s.LastTerminationState.Terminated != nil:
			running = true
		case s.State.Waiting != nil:
			waiting = true
		case hasFailed(s):
			failed = true
		}
	}
	switch {
	case waiting:
		return v1.PodPending
	case running:
		return v1.PodRunning
	case failed:
		return v1.PodFailed
	}
	return v1.PodSucceeded
}

func hasFailed(s v1.ContainerStatus) bool {
	return s.State.Terminated != nil && s.State.Terminated.ExitCode != 0
}

// killedStatus is the last status of a pod that was deleted while its containers ran.
func killedStatus(pod *v1.Pod) *v1.PodStatus {
	st := pod.Status.DeepCopy()
	st.Phase = v1.PodFailed
	for i := range st.ContainerStatuses {
		s := &st.ContainerStatuses[i]
		if s.State.Terminated == nil {
			s.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
				ExitCode: 143, Reason: "Error", FinishedAt: metav1.Now()}}
		}
		s.Ready, s.Started = false, ptr.To(false)
	}
	setReady(pod, st, false, "PodFailed")
	return st
}

func setConditions(pod *v1.Pod, st *v1.PodStatus, delayed, initialized bool) {
	setCondition(pod, st, "PodReadyToStartContainers", !delayed, "")
	setCondition(pod, st, v1.PodInitialized, initialized, "ContainersNotInitialized")
	ready := st.Phase == v1.PodRunning
	for _, s := range st.ContainerStatuses {
		ready = ready && s.Ready
	}
	reason := "ContainersNotReady"
	switch st.Phase {
	case v1.PodSucceeded:
		reason = "PodCompleted"
	case v1.PodFailed:
		reason = "PodFailed"
	}
	setReady(pod, st, ready, reason)
}

// setReady derives the pod's readiness from its containers' and its readiness gates.
func setReady(pod *v1.Pod, st *v1.PodStatus, containersReady bool, reason string) {
	setCondition(pod, st, v1.ContainersReady, containersReady, reason)
	ready := containersReady
	for _, g := range pod.Spec.ReadinessGates {
		if containersReady && !isTrue(st, g.ConditionType) {
			ready, reason = false, "ReadinessGatesNotReady"
		}
	}
	setCondition(pod, st, v1.PodReady, ready, reason)
}

func isTrue(st *v1.PodStatus, t v1.PodConditionType) bool {
	for _, c := range st.Conditions {
		if c.Type == t {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// setCondition sets a condition; a true one carries no reason.
func setCondition(pod *v1.Pod, st *v1.PodStatus, t v1.PodConditionType, ok bool, reason string) {
	want := v1.PodCondition{Type: t, Status: v1.ConditionTrue, ObservedGeneration: pod.Generation, LastTransitionTime: metav1.Now()}
	if !ok {
		want.Status, want.Reason = v1.ConditionFalse, reason
	}
	for i := range st.Conditions {
		c := &st.Conditions[i]
		if c.Type != t {
			continue
		}
		if c.Status == want.Status {
			want.LastTransitionTime = c.LastTransitionTime
		}
		want.LastProbeTime, want.Message = c.LastProbeTime, c.Message
		*c = want
		return
	}
	st.Conditions = append(st.Conditions, want)
}
