package main

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// statusAt is the status of pod some time after its start.
func statusAt(pod *v1.Pod, after time.Duration) (*v1.PodStatus, time.Duration) {
	pod.Status.StartTime = &metav1.Time{Time: start}
	newIP := func() string { return "10.128.0.1" }
	return podStatus(pod, start.Add(after), options{runFor: time.Second}, newIP)
}

func newPod(policy v1.RestartPolicy, annotations map[string]string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "ns", UID: "uid", Annotations: annotations},
		Spec:       v1.PodSpec{RestartPolicy: policy, Containers: []v1.Container{{Name: "main", Image: "nginx"}}},
	}
}

func outcomeIs(what string) map[string]string { return map[string]string{annOutcome: what} }

// describe tells phase, readiness, the state of each container, and when to look again.
func describe(st *v1.PodStatus, again time.Duration) string {
	text := fmt.Sprintf("%s ready=%v", st.Phase, isTrue(st, v1.PodReady))
	for _, s := range append(append([]v1.ContainerStatus{}, st.InitContainerStatuses...), st.ContainerStatuses...) {
		text += " " + s.Name + "="
		switch {
		case s.State.Running != nil:
			text += "Running"
		case s.State.Terminated != nil:
			text += fmt.Sprintf("Terminated(%d)", s.State.Terminated.ExitCode)
		default:
			text += s.State.Waiting.Reason
		}
		if s.RestartCount > 0 {
			text += fmt.Sprintf("(restarts %d)", s.RestartCount)
		}
	}
	if again > 0 {
		text += fmt.Sprint(" again in ", again)
	}
	return text
}

func TestPodStatusFollowsOutcomeAndTime(t *testing.T) {
	always, never, onFailure := v1.RestartPolicyAlways, v1.RestartPolicyNever, v1.RestartPolicyOnFailure
	for _, test := range []struct {
		name  string
		pod   *v1.Pod
		after time.Duration
		want  string
	}{
		{"a service runs", newPod(always, nil), 0, "Running ready=true main=Running"},
		{"a start delay", newPod(always, map[string]string{annStartDelay: "3s"}), time.Second,
			"Pending ready=false main=ContainerCreating again in 2s"},
		{"a job runs for its time", newPod(never, nil), 0, "Running ready=true main=Running again in 1s"},
		{"a job succeeds", newPod(never, nil), time.Second, "Succeeded ready=false main=Terminated(0)"},
		{"a job fails", newPod(never, map[string]string{annOutcome: outFail, annExitCode + ".main": "42"}), time.Second,
			"Failed ready=false main=Terminated(42)"},
		{"a failed job is restarted", newPod(onFailure, outcomeIs(outFail)), 0,
			"Running ready=false main=CrashLoopBackOff again in 1s"},
		{"a service that ends is restarted", newPod(always, outcomeIs(outSucceed)), time.Second,
			"Running ready=false main=CrashLoopBackOff(restarts 1) again in 2s"},
		{"crashes become rarer", newPod(always, outcomeIs(outCrashLoop)), 4 * time.Second,
			"Running ready=false main=CrashLoopBackOff(restarts 2) again in 3s"},
		{"an image is not there", newPod(always, outcomeIs(outImagePull)), 0,
			"Pending ready=false main=ErrImagePull again in 1s"},
		{"an image is still not there", newPod(always, outcomeIs(outImagePull)), time.Second,
			"Pending ready=false main=ImagePullBackOff"},
		{"bad configuration", newPod(always, outcomeIs(outConfigError)), 0,
			"Pending ready=false main=CreateContainerConfigError"},
		{"not ready", newPod(always, outcomeIs(outNotReady)), 0, "Running ready=false main=Running"},
		{"pending", newPod(always, outcomeIs(outPending)), time.Hour, "Pending ready=false main=ContainerCreating"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := describe(statusAt(test.pod, test.after)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestInitContainersRunInOrder(t *testing.T) {
	pod := newPod(v1.RestartPolicyNever, nil)
	pod.Spec.InitContainers = []v1.Container{
		{Name: "proxy", Image: "proxy", RestartPolicy: ptr.To(v1.ContainerRestartPolicyAlways)},
		{Name: "one", Image: "busybox"},
		{Name: "two", Image: "busybox"},
	}
	for _, test := range []struct{ outcomes, want string }{
		{"", "Running ready=true proxy=Running one=Terminated(0) two=Terminated(0) main=Running again in 1s"},
		{outPending, "Pending ready=false proxy=Running one=ContainerCreating two=PodInitializing main=PodInitializing"},
		{outImagePull, "Pending ready=false proxy=Running one=ErrImagePull two=PodInitializing main=PodInitializing again in 1s"},
	} {
		pod.Annotations = map[string]string{annOutcome + ".one": test.outcomes}
		if got := describe(statusAt(pod, 0)); got != test.want {
			t.Errorf("one %q:\ngot  %s\nwant %s", test.outcomes, got, test.want)
		}
	}
	pod.Annotations = map[string]string{annOutcome + ".one": outFail}
	const want = "Failed ready=false proxy=Running one=Terminated(1) two=PodInitializing main=PodInitializing"
	if got := describe(statusAt(pod, time.Second)); got != want {
		t.Errorf("a failed init container:\ngot  %s\nwant %s", got, want)
	}
}

func TestReadinessGateHoldsBackReadiness(t *testing.T) {
	pod := newPod(v1.RestartPolicyAlways, nil)
	pod.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	st, _ := statusAt(pod, 0)
	if isTrue(st, v1.PodReady) || !isTrue(st, v1.ContainersReady) {
		t.Errorf("with the gate closed: ready=%v containers ready=%v", isTrue(st, v1.PodReady), isTrue(st, v1.ContainersReady))
	}
	pod.Status.Conditions = []v1.PodCondition{{Type: "example.com/gate", Status: v1.ConditionTrue}}
	if st, _ := statusAt(pod, 0); !isTrue(st, v1.PodReady) {
		t.Error("not ready with the gate open")
	}
}
