package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	imagePullErrorTime = time.Second // ErrImagePull, before ImagePullBackOff
	maxRestarts        = 12
)

// moment is one look at a pod: what its containers do then follows from the pod and the time.
type moment struct {
	pod      *v1.Pod
	now      time.Time
	started  time.Time // of the containers: the pod's start plus the start delay
	delayed  bool      // not started yet
	runFor   time.Duration
	restarts map[string]int32 // by container, as reported last
	again    time.Duration    // when to look again; 0: only when the pod changes
}

func newMoment(pod *v1.Pod, st *v1.PodStatus, now time.Time, o options) *moment {
	m := &moment{
		pod: pod, now: now,
		started:  st.StartTime.Add(annDuration(pod, annStartDelay, o.startDelay)),
		runFor:   annDuration(pod, annRunFor, o.runFor),
		restarts: map[string]int32{},
	}
	for _, l := range [][]v1.ContainerStatus{st.InitContainerStatuses, st.ContainerStatuses} {
		for _, s := range l {
			m.restarts[s.Name] = s.RestartCount
		}
	}
	if m.delayed = now.Before(m.started); m.delayed {
		m.lookAt(m.started)
	}
	return m
}

func (m *moment) lookAt(t time.Time) {
	if d := max(t.Sub(m.now), time.Millisecond); m.again == 0 || d < m.again {
		m.again = d
	}
}

// initContainers run to completion in order, unless annotated by name; initialized tells whether all did.
func (m *moment) initContainers() (statuses []v1.ContainerStatus, initialized bool) {
	initialized = !m.delayed
	for i := range m.pod.Spec.InitContainers {
		c := &m.pod.Spec.InitContainers[i]
		// The pod's own outcome is about its main containers.
		what := m.pod.Annotations[annOutcome+"."+c.Name]
		if what == "" && isImageMissing(c.Image) {
			what = outImagePull
		}
		isSidecar := ptr.Deref(c.RestartPolicy, "") == v1.ContainerRestartPolicyAlways
		var s v1.ContainerStatus
		switch {
		case !initialized:
			s = m.pending(c, "PodInitializing")
		case isSidecar:
			s = m.container(c, cmp.Or(what, outRun))
			initialized = *s.Started
		case what == "" || what == outSucceed:
			s = m.container(c, outRun)
			s.State = m.terminated(c, &s, 0, m.started, m.started)
			s.Started = ptr.To(false)
		default:
			s = m.container(c, what)
			s.Ready, initialized = false, false
		}
		statuses = append(statuses, s)
	}
	return statuses, initialized
}

func (m *moment) containers(initialized bool) (statuses []v1.ContainerStatus) {
	for i := range m.pod.Spec.Containers {
		c := &m.pod.Spec.Containers[i]
		switch {
		case initialized:
			statuses = append(statuses, m.container(c, outcome(m.pod, c)))
		case len(m.pod.Spec.InitContainers) > 0:
			statuses = append(statuses, m.pending(c, "PodInitializing"))
		default:
			statuses = append(statuses, m.pending(c, "ContainerCreating"))
		}
	}
	return statuses
}

func (m *moment) pending(c *v1.Container, reason string) v1.ContainerStatus {
	s := v1.ContainerStatus{Name: c.Name, Image: c.Image, RestartCount: m.restarts[c.Name], Started: ptr.To(false)}
	s.State = waiting(reason, "")
	return s
}

func waiting(reason, message string) v1.ContainerState {
	return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// container is the status of a container with an outcome, from the moment that it may start.
func (m *moment) container(c *v1.Container, what string) v1.ContainerStatus {
	s := m.pending(c, "ContainerCreating")
	if m.delayed {
		return s
	}
	switch m.afterRestartPolicy(what) {
	case outPending:
	case outSucceed, outFail:
		m.runOnce(c, &s, exitCode(m.pod, c.Name, what))
	case outCrashLoop:
		m.crash(c, &s, exitCode(m.pod, c.Name, what))
	case outImagePull:
		m.pullImage(c, &s)
	case outConfigError:
		s.State = waiting("CreateContainerConfigError", cmp.Or(ann(m.pod, annMessage, c.Name), `configmap "missing" not found`))
	default: // outRun, outNotReady
		m.run(c, &s)
		s.Ready = what != outNotReady
	}
	return s
}

// afterRestartPolicy turns an end into a crash loop where the pod's policy restarts what ended.
func (m *moment) afterRestartPolicy(what string) string {
	policy := m.pod.Spec.RestartPolicy
	if what == outFail && policy != v1.RestartPolicyNever {
		return outCrashLoop
	}
	if what == outSucceed && policy == v1.RestartPolicyAlways {
		return outCrashLoop
	}
	return what
}

func (m *moment) run(c *v1.Container, s *v1.ContainerStatus) {
	m.create(c, s)
	s.State = v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.Time{Time: m.started}}}
	s.Ready, s.Started = true, ptr.To(true)
}

func (m *moment) runOnce(c *v1.Container, s *v1.ContainerStatus, code int32) {
	end := m.started.Add(m.runFor)
	if m.now.Before(end) {
		m.run(c, s)
		m.lookAt(end)
		return
	}
	m.create(c, s)
	s.State = m.terminated(c, s, code, m.started, end)
}

// crash lets the container end 0, 1, 3, 7, 15, 31 … seconds after the start.
func (m *moment) crash(c *v1.Container, s *v1.ContainerStatus, code int32) {
	restarts := min(int32(math.Log2(m.now.Sub(m.started).Seconds()+1)), maxRestarts)
	s.RestartCount = max(restarts, s.RestartCount)
	m.create(c, s)
	end := m.crashTime(restarts)
	s.LastTerminationState = m.terminated(c, s, code, end, end)
	s.State = waiting("CrashLoopBackOff", fmt.Sprintf("back-off 10s restarting failed container=%s pod=%s_%s(%s)",
		c.Name, m.pod.Name, m.pod.Namespace, m.pod.UID))
	if restarts < maxRestarts {
		m.lookAt(m.crashTime(restarts + 1))
	}
}

func (m *moment) crashTime(restarts int32) time.Time {
	return m.started.Add(time.Duration(math.Exp2(float64(restarts))-1) * time.Second)
}

func (m *moment) pullImage(c *v1.Container, s *v1.ContainerStatus) {
	if backOff := m.started.Add(imagePullErrorTime); m.now.Before(backOff) {
		s.State = waiting("ErrImagePull", fmt.Sprintf("failed to pull and unpack image %q: not found", c.Image))
		m.lookAt(backOff)
		return
	}
	s.State = waiting("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: not found", c.Image))
}

// create gives the container an identity, another one after each restart.
func (m *moment) create(c *v1.Container, s *v1.ContainerStatus) {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s/%s/%d", m.pod.UID, c.Name, s.RestartCount)
	s.ImageID = "fake.local/" + c.Image
	s.ContainerID = fmt.Sprintf("fake://%x", h.Sum(nil))
}

func (m *moment) terminated(c *v1.Container, s *v1.ContainerStatus, code int32, start, end time.Time) v1.ContainerState {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: ann(m.pod, annMessage, c.Name),
		StartedAt: metav1.Time{Time: start}, FinishedAt: metav1.Time{Time: end}, ContainerID: s.ContainerID,
	}}
}
